// What the official clients send without pictures that anybody could cut: calls by name, for the
// corpus (record.mjs) and for the proxy (proxy.mjs).
import Anthropic from '@anthropic-ai/sdk';
import {Ollama} from 'ollama';
import OpenAI from 'openai';

// Clients of a server, made so that they try once.
export function clients(url) {
  return {
    openai: new OpenAI({baseURL: url + '/v1', apiKey: 'sk-client', maxRetries: 0, organization: 'org-1'}),
    anthropic: new Anthropic({baseURL: url, apiKey: 'sk-client', maxRetries: 0}),
    ollama: new Ollama({host: url}),
  };
}

const tool = {type: 'function', function: {name: 'look_up', description: 'An image of a thing', strict: true,
  parameters: {type: 'object', properties: {image: {type: 'string', description: 'its "name" \\ é 😀'}},
    required: ['image'], additionalProperties: false}}};
const schema = {name: 'answer', strict: true, schema: {type: 'object',
  properties: {image_url: {type: 'string'}, score: {type: 'number'}}, required: ['image_url', 'score'],
  additionalProperties: false}};
const user = (content) => [{role: 'user', content}];
const long = 'An image says more than words. \u00e9\u4e2d\ud83d\ude00 '.repeat(2600);  // about 100 kB

export const calls = {
  'chat: words': (c) => c.openai.chat.completions.create({model: 'm', messages: user('Describe an image.')}),
  'chat: words without a mark': (c) => c.openai.chat.completions.create({model: 'm', messages: user('Hello.')}),
  'chat: system and developer': (c) => c.openai.chat.completions.create({model: 'm', messages: [
    {role: 'developer', content: 'Be brief.'}, {role: 'system', content: [{type: 'text', text: 'image'}]},
    ...user('Hi')], temperature: 1e-7, top_p: 0.95, seed: 7}),
  'chat: tools': (c) => c.openai.chat.completions.create({model: 'm', tools: [tool], tool_choice: 'auto',
    parallel_tool_calls: false, messages: [...user('image?'), {role: 'assistant', content: null, tool_calls: [
      {id: 'call_1', type: 'function', function: {name: 'look_up', arguments: '{"image":"file:///x"}'}}]},
    {role: 'tool', tool_call_id: 'call_1', content: 'an image, file:///tmp/x'}]}),
  'chat: schema': (c) => c.openai.chat.completions.create({model: 'm', messages: user('image'),
    response_format: {type: 'json_schema', json_schema: schema}}),
  'chat: logprobs and choices': (c) => c.openai.chat.completions.create({model: 'm', messages: user('image'),
    logprobs: true, top_logprobs: 5, n: 3, stop: ['\n\n'], logit_bias: {50256: -100}, user: 'u'}),
  'chat: audio': (c) => c.openai.chat.completions.create({model: 'm', modalities: ['text', 'audio'],
    audio: {voice: 'alloy', format: 'wav'}, messages: user([{type: 'text', text: 'image?'},
      {type: 'input_audio', input_audio: {data: 'UklGRiQAAABXQVZF', format: 'wav'}}])}),
  'chat: film': (c) => c.openai.chat.completions.create({model: 'm', messages: user([
    {type: 'video_url', video_url: {url: 'https://example.com/film.mp4'}}, {type: 'text', text: 'image?'}])}),
  'chat: a picture elsewhere': (c) => c.openai.chat.completions.create({model: 'm', messages: user([
    {type: 'image_url', image_url: {url: 'https://example.com/a.png', detail: 'high'}}, {type: 'text', text: 'What?'}])}),
  'chat: a file': (c) => c.openai.chat.completions.create({model: 'm', messages: user([
    {type: 'file', file: {filename: 'image.pdf', file_data: 'data:application/pdf;base64,JVBERi0='}}])}),
  'chat: a long prompt': (c) => c.openai.chat.completions.create({model: 'm', messages: user(long)}),
  'chat: many turns': (c) => c.openai.chat.completions.create({model: 'm', messages: Array.from({length: 401},
    (_, i) => ({role: i % 2 ? 'assistant' : 'user', content: 'image ' + i}))}),
  'responses: words': (c) => c.openai.responses.create({model: 'm', input: 'An image of a cat'}),
  'responses: instructions and tools': (c) => c.openai.responses.create({model: 'm', instructions: 'image',
    input: [{role: 'user', content: [{type: 'input_text', text: 'image?'}]}], previous_response_id: 'resp_1',
    tools: [{type: 'web_search'}, {type: 'function', name: 'f', strict: true, parameters: tool.function.parameters}],
    text: {format: {type: 'json_schema', ...schema}}, reasoning: {effort: 'low'}, store: false}),
  'responses: a picture by name': (c) => c.openai.responses.create({model: 'm', input: [{role: 'user', content: [
    {type: 'input_image', file_id: 'file-1', detail: 'auto'}, {type: 'input_text', text: 'What?'}]}]}),
  'messages: words': (c) => c.anthropic.messages.create({model: 'm', max_tokens: 9, messages: user('An image')}),
  'messages: system, tools, thinking': (c) => c.anthropic.messages.create({model: 'm', max_tokens: 2048,
    system: [{type: 'text', text: 'image', cache_control: {type: 'ephemeral'}}], stop_sequences: ['END'],
    thinking: {type: 'enabled', budget_tokens: 1024}, metadata: {user_id: 'u'},
    tools: [{name: 'look', description: 'an image', input_schema: tool.function.parameters}],
    messages: [...user('image'), {role: 'assistant', content: [{type: 'tool_use', id: 't', name: 'look',
      input: {image: 'x'}}]}, {role: 'user', content: [{type: 'tool_result', tool_use_id: 't', content: 'done'}]}]}),
  'messages: a picture elsewhere': (c) => c.anthropic.messages.create({model: 'm', max_tokens: 9, messages: user([
    {type: 'image', source: {type: 'url', url: 'https://example.com/a.png'}}, {type: 'text', text: 'What?'}])}),
  'messages: a long prompt': (c) => c.anthropic.messages.create({model: 'm', max_tokens: 9, messages: user(long)}),
  'messages: counting': (c) => c.anthropic.messages.countTokens({model: 'm', messages: user('An image')}),
  'ollama: chat': (c) => c.ollama.chat({model: 'm', messages: user('An image'), options: {temperature: 0, num_ctx: 4096},
    keep_alive: '5m', tools: [tool]}),
  'ollama: generate': (c) => c.ollama.generate({model: 'm', prompt: 'An image', system: 'image', raw: false,
    format: schema.schema}),
  'ollama: embed': (c) => c.ollama.embed({model: 'm', input: ['image', 'file:///x']}),
  'openai: embeddings': (c) => c.openai.embeddings.create({model: 'm', input: 'image', encoding_format: 'float'}),
};

// A server that writes down every request: {method, path, headers, body}.
export async function recorder() {
  const {createServer} = await import('node:http');
  const got = [];
  const server = createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      got.push({method: request.method, path: request.url, headers: request.headers,
        body: Buffer.concat(pieces).toString('utf8')});
      response.setHeader('Content-Type', 'application/json');
      response.setHeader('X-Request-Id', 'req-' + got.length);
      response.end('{"id":"x","object":"any","output":[],"content":[],"choices":[],"data":[],"done":true}');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {got, url: 'http://127.0.0.1:' + server.address().port, stop: () => server.close()};
}
