// The official Anthropic package as a client: node anthropic.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import {pictureBase64, pictureUrl, run, serve} from './server.mjs';

const server = await serve(process.argv[2], '--api-key', 'sk-test');
const client = new Anthropic({baseURL: server.url, apiKey: 'sk-test', maxRetries: 0});

const picture = {type: 'image', source: {type: 'base64', media_type: 'image/jpeg', data: pictureBase64()}};
const question = (text, extra = {}) => ({
  model: 'arrcoc-tiny',
  max_tokens: 100,
  system: 'Be brief.',
  messages: [{role: 'user', content: [picture, {type: 'text', text}]}],
  ...extra,
});

try {
  await run({
    async 'answers'() {
      const reply = await client.messages.create(question('What is the total?'));
      assert.deepEqual(reply.content, [{type: 'text', text: '33.10'}]);
      assert.equal(reply.stop_reason, 'end_turn');
      assert.equal(reply.stop_sequence, null);
      assert.ok(reply.id.startsWith('msg_'));
      assert.ok(reply.usage.input_tokens > reply.usage.image_tokens.kept);
      assert.ok(reply.usage.image_tokens.kept <= reply.arrcoc.budget);
    },
    async 'counts before sending what is counted after'() {
      const {max_tokens, ...request} = question('What is the total?', {arrcoc: {budget: 64}});
      const counted = await client.messages.countTokens(request);
      const reply = await client.messages.create({...request, max_tokens});
      assert.equal(counted.input_tokens, reply.usage.input_tokens);
      assert.ok(reply.usage.image_tokens.kept <= 64);
    },
    async 'streams, event by event'() {
      const types = [];
      let text = '', usage;
      for await (const event of await client.messages.create(question('What is the date?', {stream: true}))) {
        if (event.type === 'content_block_delta') text += event.delta.text;
        if (event.type === 'message_delta') usage = event.usage;
        if (types.at(-1) !== event.type) types.push(event.type);
      }
      assert.equal(text, '10 jul 2024');
      assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
      // The package keeps pings for itself.
      assert.deepEqual(types.filter((type) => type !== 'ping'), [
        'message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta',
        'message_stop',
      ]);
    },
    async 'streams through the helper'() {
      const message = await client.messages.stream(question('What is the total?')).finalMessage();
      assert.equal(message.content[0].text, '33.10');
      assert.equal(message.stop_reason, 'end_turn');
      assert.ok(message.usage.output_tokens > 0);
    },
    async 'stops at a sequence and at max_tokens'() {
      for (const stream of [false, true]) {
        const say = (extra) => stream ? client.messages.stream(question('What is the total?', extra)).finalMessage()
                                      : client.messages.create(question('What is the total?', extra));
        const stopped = await say({stop_sequences: ['.1']});
        assert.equal(stopped.content[0].text, '33');
        assert.equal(stopped.stop_reason, 'stop_sequence');
        assert.equal(stopped.stop_sequence, '.1');
        const cut = await say({max_tokens: 2});
        assert.equal(cut.content[0].text, '33');
        assert.equal(cut.stop_reason, 'max_tokens');
      }
    },
    async 'turns errors into the right exceptions'() {
      await assert.rejects(client.messages.create(question('x', {model: 'claude-x'})), Anthropic.NotFoundError);
      const fetched = question('x');
      fetched.messages[0].content[0] = {type: 'image', source: {type: 'url', url: pictureUrl()}};
      await assert.rejects(client.messages.create(fetched), (problem) => {
        assert.ok(problem instanceof Anthropic.BadRequestError);
        assert.equal(problem.error.type, 'error');
        assert.equal(problem.error.error.type, 'invalid_request_error');
        assert.match(problem.error.error.message, /base64/);
        return true;
      });
      const stranger = new Anthropic({baseURL: server.url, apiKey: 'sk-wrong', maxRetries: 0});
      await assert.rejects(stranger.messages.create(question('x')), Anthropic.AuthenticationError);
      const bearer = new Anthropic({baseURL: server.url, apiKey: null, authToken: 'sk-test', maxRetries: 0});
      assert.equal((await bearer.messages.create(question('What is the total?'))).content[0].text, '33.10');
    },
  });
} finally {
  assert.equal(await server.stop(), 0);
}
