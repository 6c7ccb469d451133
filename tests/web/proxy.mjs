// The official clients through the proxy: node proxy.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import {calls, clients, recorder} from './requests.mjs';
import {pictureBase64, pictureUrl, run, serve} from './server.mjs';

const upstream = await recorder();
const proxy = await serve(process.argv[2], '--upstream', upstream.url);
const direct = clients(upstream.url), through = clients(proxy.url);
const posts = () => upstream.got.filter((one) => one.method === 'POST' && !one.path.startsWith('/api/show'));
// Of the connection, not of the request.
const own = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding', 'keep-alive']);
const kept = (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));

const tests = {};
for (const [name, call] of Object.entries(calls))
  tests['passes ' + name + ' byte for byte'] = async () => {
    await call(direct);
    const before = upstream.got.at(-1);
    await call(through);
    const after = upstream.got.at(-1);
    assert.notEqual(before, after);
    assert.equal(after.path, before.path);
    assert.equal(after.body, before.body);
    assert.deepEqual(kept(after.headers), kept(before.headers));
  };

const words = {type: 'text', text: 'What is the total?'};
tests['cuts pictures of every client'] = async () => {
  const sent = async (call) => {
    await call(through);
    return posts().at(-1).body;
  };
  const original = pictureBase64();
  const bodies = [
    await sent((c) => c.openai.chat.completions.create({model: 'Qwen2.5-VL-7B', arrcoc: {budget: 100}, messages: [
      {role: 'user', content: [{type: 'image_url', image_url: {url: pictureUrl()}}, words]}]})),
    await sent((c) => c.openai.responses.create({model: 'gpt-4o', arrcoc: {budget: 300}, input: [{role: 'user', content: [
      {type: 'input_image', image_url: pictureUrl(), detail: 'high'}, {type: 'input_text', text: words.text}]}]})),
    await sent((c) => c.anthropic.messages.create({model: 'claude-sonnet-4-5', max_tokens: 9, arrcoc: {budget: 200}, messages: [
      {role: 'user', content: [{type: 'image', source: {type: 'base64', media_type: 'image/jpeg', data: original}}, words]}]})),
    await sent((c) => c.ollama.chat({model: 'gemma3', arrcoc: {budget: 64}, messages: [
      {role: 'user', content: words.text, images: [original]}]})),
  ];
  // Gemma 3 costs the same at any size: that one stays as it is.
  assert.deepEqual(bodies.map((body) => body.includes(original)), [false, false, false, true]);
  for (const body of bodies) assert.ok(!body.includes('arrcoc'));
};
tests['says what was saved'] = async () => {
  const report = await (await fetch(proxy.url + '/v1/savings')).json();
  assert.ok(report.models.length >= 3);
  assert.ok(report.total.kept_tokens < report.total.native_tokens);
};
tests['passes replies with their headers'] = async () => {
  const {response} = await through.openai.chat.completions.create(
      {model: 'm', messages: [{role: 'user', content: 'image'}]}).withResponse();
  assert.match(response.headers.get('x-request-id'), /^req-/);
};

try {
  await run(tests);
} finally {
  assert.equal(await proxy.stop(), 0);
  upstream.stop();
}
