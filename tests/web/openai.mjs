// The official OpenAI package as a client: node openai.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import {pictureUrl, run, serve} from './server.mjs';

const server = await serve(process.argv[2], '--api-key', 'sk-test');
const client = new OpenAI({baseURL: server.url + '/v1', apiKey: 'sk-test', maxRetries: 0});

const question = (text, extra = {}) => ({
  model: 'arrcoc-tiny',
  messages: [{role: 'user', content: [
    {type: 'image_url', image_url: {url: pictureUrl()}},
    {type: 'text', text},
  ]}],
  ...extra,
});

try {
  await run({
    async 'lists the models'() {
      const models = await client.models.list();
      assert.deepEqual(models.data.map((m) => m.id), ['arrcoc-tiny']);
    },
    async 'answers'() {
      const reply = await client.chat.completions.create(question('What is the total?'));
      assert.equal(reply.choices[0].message.content, '33.10');
      assert.ok(reply.usage.image_tokens.kept <= reply.arrcoc.budget);
      assert.ok(reply.id.startsWith('chatcmpl-'));
    },
    async 'keeps to a budget'() {
      const reply = await client.chat.completions.create(question('What is the total?', {arrcoc: {budget: 64}}));
      assert.ok(reply.usage.image_tokens.kept <= 64);
    },
    async 'streams'() {
      const stream = await client.chat.completions.create(
          question('What is the date?', {stream: true, stream_options: {include_usage: true}}));
      let text = '', usage;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta?.content ?? '';
        usage = chunk.usage ?? usage;
      }
      assert.equal(text, '10 jul 2024');
      assert.ok(usage.image_tokens.kept > 0);
    },
    async 'streams through the helper'() {
      const runner = client.chat.completions.stream(question('What is the total?'));
      assert.equal((await runner.finalMessage()).content, '33.10');
    },
    async 'remembers the picture of an earlier turn'() {
      const request = question('What is the total?');
      request.messages.push({role: 'assistant', content: '33.10'}, {role: 'user', content: 'What is the date?'});
      const reply = await client.chat.completions.create(request);
      assert.equal(reply.choices[0].message.content, '10 jul 2024');
    },
    async 'turns errors into the right exceptions'() {
      await assert.rejects(client.chat.completions.create({...question('x'), model: 'gpt-4o'}), OpenAI.NotFoundError);
      await assert.rejects(client.chat.completions.create({model: 'arrcoc-tiny', messages: []}), OpenAI.BadRequestError);
      const stranger = new OpenAI({baseURL: server.url + '/v1', apiKey: 'sk-wrong', maxRetries: 0});
      await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
    },
    async 'aborts a stream'() {
      const stream = await client.chat.completions.create(question('What is the name of the shop?', {stream: true}));
      stream.controller.abort();
      const reply = await client.chat.completions.create(question('What is the total?'));
      assert.equal(reply.choices[0].message.content, '33.10');
    },
  });
} finally {
  assert.equal(await server.stop(), 0);
}
