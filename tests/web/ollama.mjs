// The official Ollama package as a client: node ollama.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {Ollama} from 'ollama';
import {pictureBase64, picturePath, run, serve} from './server.mjs';

const server = await serve(process.argv[2], '--api-key', 'sk-test');
const client = new Ollama({host: server.url, headers: {Authorization: 'Bearer sk-test'}});

const question = (content, extra = {}) => ({
  model: 'arrcoc-tiny',
  messages: [{role: 'user', content, images: [pictureBase64()]}],
  ...extra,
});

function checkCounts(reply) {
  assert.equal(reply.done, true);
  assert.ok(reply.total_duration > 0 && reply.eval_duration > 0 && reply.prompt_eval_duration >= 0);
  assert.ok(reply.prompt_eval_count > reply.image_tokens.kept);
  assert.ok(reply.eval_count > 0);
}

try {
  await run({
    async 'lists and shows the model'() {
      const {models} = await client.list();
      assert.deepEqual(models.map((m) => m.name), ['arrcoc-tiny:latest']);
      assert.match(models[0].digest, /^[0-9a-f]{64}$/);
      assert.ok(models[0].size > 0);
      assert.ok(new Date(models[0].modified_at).getFullYear() > 2000);
      const shown = await client.show({model: models[0].name});
      assert.ok(shown.capabilities.includes('vision'));
      assert.ok(shown.model_info['general.parameter_count'] > 0);
      await assert.rejects(client.show({model: 'llava'}), /no such model/);
      assert.match((await client.version()).version, /^\d+\.\d+/);
    },
    async 'chats'() {
      const reply = await client.chat(question('What is the total?'));
      assert.equal(reply.message.content, '33.10');
      assert.equal(reply.message.role, 'assistant');
      assert.equal(reply.done_reason, 'stop');
      checkCounts(reply);
    },
    async 'chats under the name of the list, with bytes'() {
      const image = new Uint8Array(readFileSync(picturePath('receipt.jpg')));
      const reply = await client.chat({
        model: 'arrcoc-tiny:latest',
        messages: [{role: 'user', content: 'What is the total?', images: [image]}],
        arrcoc: {budget: 64},
      });
      assert.equal(reply.message.content, '33.10');
      assert.ok(reply.image_tokens.kept <= 64);
    },
    async 'streams a chat'() {
      let text = '', last;
      for await (const part of await client.chat(question('What is the date?', {stream: true}))) {
        text += part.message.content;
        last = part;
      }
      assert.equal(text, '10 jul 2024');
      checkCounts(last);
    },
    async 'generates'() {
      const request = {model: 'arrcoc-tiny', prompt: 'What is the total?', images: [pictureBase64()]};
      const reply = await client.generate({...request, options: {num_predict: 2}});
      assert.equal(reply.response, '33');
      assert.equal(reply.done_reason, 'length');
      let text = '', last;
      for await (const part of await client.generate({...request, stream: true, options: {stop: ['.']}})) {
        text += part.response;
        last = part;
      }
      assert.equal(text, '33');
      checkCounts(last);
    },
    async 'streams unless told otherwise'() {
      const reply = await fetch(server.url + '/api/chat', {
        method: 'POST',
        headers: {'Content-Type': 'application/json', Authorization: 'Bearer sk-test'},
        body: JSON.stringify(question('What is the total?')),
      });
      assert.match(reply.headers.get('content-type'), /x-ndjson/);
      const lines = (await reply.text()).trim().split('\n').map((line) => JSON.parse(line));
      assert.equal(lines.map((line) => line.message.content).join(''), '33.10');
      assert.deepEqual(lines.map((line) => line.done), [...lines.slice(1).map(() => false), true]);
    },
    async 'says what is wrong in one line'() {
      await assert.rejects(client.chat({...question('x'), model: 'llava'}), {status_code: 404});
      await assert.rejects(client.generate({model: 'arrcoc-tiny', prompt: 'What?'}), /pictures/);
      await assert.rejects(client.chat({model: 'arrcoc-tiny', messages: [
        {role: 'user', content: 'x', images: ['no base64!']},
      ]}), {status_code: 400});
      const stranger = new Ollama({host: server.url});
      await assert.rejects(stranger.list(), {status_code: 401});
    },
  });
} finally {
  assert.equal(await server.stop(), 0);
}
