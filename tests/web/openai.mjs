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

const response = (text, extra = {}) => ({
  model: 'arrcoc-tiny',
  instructions: 'Be brief.',
  input: [{role: 'user', content: [
    {type: 'input_image', image_url: pictureUrl(), detail: 'low'},
    {type: 'input_text', text},
  ]}],
  store: false,
  ...extra,
});

try {
  await run({
    async 'lists the models'() {
      const models = await client.models.list();
      assert.deepEqual(models.data.map((m) => m.id), ['arrcoc-tiny']);
    },
    async 'retrieves one model'() {
      assert.equal((await client.models.retrieve('arrcoc-tiny')).id, 'arrcoc-tiny');
      await assert.rejects(client.models.retrieve('gpt-4o'), OpenAI.NotFoundError);
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
    async 'takes detail and a header for a budget'() {
      const low = question('What is the total?');
      low.messages[0].content[0].image_url.detail = 'low';
      assert.ok((await client.chat.completions.create(low)).usage.image_tokens.kept <= 64);
      const reply = await client.chat.completions.create(low, {headers: {'X-Arrcoc-Budget': '40'}});
      assert.ok(reply.usage.image_tokens.kept <= 40);
      await assert.rejects(client.chat.completions.create(low, {headers: {'X-Arrcoc-Budget': 'much'}}),
                           OpenAI.BadRequestError);
    },
    async 'stops at a sequence'() {
      const reply = await client.chat.completions.create(question('What is the total?', {stop: ['.']}));
      assert.equal(reply.choices[0].message.content, '33');
      assert.equal(reply.choices[0].finish_reason, 'stop');
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
    async 'answers a response'() {
      const reply = await client.responses.create(response('What is the total?'));
      assert.equal(reply.output_text, '33.10');
      assert.equal(reply.status, 'completed');
      assert.ok(reply.id.startsWith('resp_'));
      assert.equal(reply.usage.total_tokens, reply.usage.input_tokens + reply.usage.output_tokens);
      assert.ok(reply.usage.image_tokens.kept <= 64, 'detail low is 64 tokens');
      const counted = await client.responses.inputTokens.count(response('What is the total?'));
      assert.equal(counted.input_tokens, reply.usage.input_tokens);
    },
    async 'streams a response, event by event'() {
      const stream = await client.responses.create(response('What is the date?', {stream: true}));
      const types = [];
      let text = '', number = 0, last;
      for await (const event of stream) {
        assert.equal(event.sequence_number, number++);
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (types.at(-1) !== event.type) types.push(event.type);
        last = event;
      }
      assert.equal(text, '10 jul 2024');
      assert.deepEqual(types, [
        'response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added',
        'response.output_text.delta', 'response.output_text.done', 'response.content_part.done',
        'response.output_item.done', 'response.completed',
      ]);
      assert.equal(last.response.output[0].content[0].text, text);
      assert.ok(last.response.usage.output_tokens > 0);
    },
    async 'streams a response through the helper'() {
      const reply = await client.responses.stream(response('What is the total?')).finalResponse();
      assert.equal(reply.output[0].content[0].text, '33.10');
    },
    async 'says when a response was cut'() {
      const reply = await client.responses.create(response('What is the total?', {max_output_tokens: 2}));
      assert.equal(reply.output_text, '33');
      assert.equal(reply.status, 'incomplete');
      assert.equal(reply.incomplete_details.reason, 'max_output_tokens');
    },
    async 'refuses what it cannot keep'() {
      for (const extra of [{previous_response_id: 'resp_1'}, {store: true}, {background: true}])
        await assert.rejects(client.responses.create(response('x', extra)), OpenAI.BadRequestError);
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
