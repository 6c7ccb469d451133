// Conversations through the proxy in front of three kinds of upstream at once:
//   node tools/relay_soak.mjs PATH_OF_ARRCOC [--seconds 60] [--clients 12]
// Every reply must be 200, every turn must repeat the bytes of the turn before, counts must be those
// of the pictures that arrived, and memory must be flat after the first third. Exit 1 otherwise.
import {existsSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {picturePath, serve} from '../tests/web/server.mjs';

const binary = process.argv[2];
if (!binary || !existsSync(binary)) {
  console.error('usage: node tools/relay_soak.mjs PATH_OF_ARRCOC [--seconds 60] [--clients 12]');
  process.exit(2);
}
const flag = (name, usual) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const seconds = flag('seconds', 60), clients = flag('clients', 12);
const pictures = ['receipt.jpg', 'street.jpg', 'chart.jpg', 'zoo.jpg']
    .map((name) => readFileSync(picturePath(name)).toString('base64'));
const questions = ['What is the total?', 'What is the date?', 'Which is the largest?', 'What is written at the top?'];

// What each kind expects and answers. sent: the messages of a request.
const kinds = {
  vllm: {
    path: '/v1/chat/completions', model: 'Qwen2.5-VL-7B',
    message: (text, picture) => ({role: 'user', content: picture
      ? [{type: 'image_url', image_url: {url: 'data:image/jpeg;base64,' + picture}}, {type: 'text', text}] : text}),
    reply: () => ({id: 'c', choices: [{index: 0, message: {role: 'assistant', content: 'ok'}, finish_reason: 'stop'}],
      usage: {prompt_tokens: 9, completion_tokens: 1}}),
    kept: (reply) => reply.usage.image_tokens.kept,
  },
  ollama: {
    path: '/api/chat', model: 'gemma3',
    message: (text, picture) => ({role: 'user', content: text, ...(picture ? {images: [picture]} : {})}),
    reply: () => ({model: 'gemma3', message: {role: 'assistant', content: 'ok'}, done: true, prompt_eval_count: 9, eval_count: 1}),
    kept: (reply) => reply.arrcoc.conversation.tokens,
  },
  anthropic: {
    path: '/v1/messages', model: 'claude-sonnet-4-5',
    message: (text, picture) => ({role: 'user', content: picture
      ? [{type: 'image', source: {type: 'base64', media_type: 'image/jpeg', data: picture}}, {type: 'text', text}] : text}),
    reply: () => ({id: 'm', type: 'message', role: 'assistant', content: [{type: 'text', text: 'ok'}], stop_reason: 'end_turn',
      usage: {input_tokens: 9, output_tokens: 1}}),
    kept: (reply) => reply.usage.image_tokens.kept,
  },
};

const failures = [];
const fail = (text) => {
  if (failures.length < 10) console.log('FAIL ' + text);
  failures.push(text);
};

async function upstream(kind) {
  const last = new Map();  // by conversation: the messages as they arrived
  const server = createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      if (request.url !== kind.path) {
        response.statusCode = 404;
        return response.end('{}');
      }
      const body = JSON.parse(Buffer.concat(pieces));
      const name = body.metadata.name;
      const now = body.messages.map((one) => JSON.stringify(one));
      (last.get(name) ?? []).forEach((before, i) => {
        if (now[i] !== before) fail(`${kind.path} ${name}: message ${i} changed`);
      });
      last.set(name, now);
      if (body.arrcoc) fail(`${kind.path}: our own object was sent on`);
      response.end(JSON.stringify(kind.reply()));
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {url: 'http://127.0.0.1:' + server.address().port, forget: (name) => last.delete(name), stop: () => server.close()};
}

const lanes = [];
for (const [name, kind] of Object.entries(kinds)) {
  const behind = await upstream(kind);
  lanes.push({name, kind, behind, proxy: await serve(binary, '--upstream', behind.url, '--cache-mb', '128',
      '--upstream-memory-mb', '32'), turns: 0, kept: 0, native: 0});
}
const end = Date.now() + 1000 * seconds;
let number = 0;
const pick = (list) => list[Math.floor(Math.random() * list.length)];

async function talk(lane) {
  const name = 'talk-' + number++;
  const messages = [];
  const budget = pick([70, 150, 300]);
  const turns = 3 + Math.floor(Math.random() * 5);
  for (let turn = 0; turn < turns && Date.now() < end; ++turn) {
    messages.push(lane.kind.message(pick(questions), turn === 0 || Math.random() < 0.3 ? pick(pictures) : null));
    const reply = await fetch(lane.proxy.url + lane.kind.path, {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({model: lane.kind.model, stream: false, max_tokens: 9, metadata: {name}, messages,
        arrcoc: {budget}})});
    if (reply.status !== 200) {
      fail(`${lane.name}: status ${reply.status} ${(await reply.text()).slice(0, 200)}`);
      break;
    }
    const said = await reply.json();
    const [kept, native] = reply.headers.get('x-arrcoc-image-tokens').split('/').map(Number);
    if (kept > native) fail(`${lane.name}: ${kept} tokens where the originals cost ${native}`);
    if (lane.kind.kept(said) !== kept) fail(`${lane.name}: header and body differ`);
    messages.push({role: 'assistant', content: 'ok'});
    ++lane.turns;
    if (turn === turns - 1) {
      lane.kept += kept;
      lane.native += native;
    }
  }
  lane.behind.forget(name);
}

const workers = Array.from({length: clients}, async (_, i) => {
  while (Date.now() < end) await talk(lanes[i % lanes.length]);
});
const samples = [];
const watch = setInterval(() => samples.push(lanes.map((lane) => lane.proxy.memory())), 1000);
await Promise.all(workers);
clearInterval(watch);
console.log('upstream      turns   kept  native   memory after a third, at the end (MB)');
lanes.forEach((lane, i) => {
  const series = samples.map((row) => row[i]), early = series[Math.floor(series.length / 3)], late = series.at(-1);
  console.log(`${lane.name.padEnd(12)} ${String(lane.turns).padStart(6)} ${String(lane.kept).padStart(6)} ` +
      `${String(lane.native).padStart(7)}   ${early.toFixed(0)}, ${late.toFixed(0)}`);
  if (late > early * 1.2 + 32) fail(`${lane.name}: memory grows from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);
});
for (const lane of lanes) {
  if (await lane.proxy.stop() !== 0) fail(lane.name + ': the server did not end well');
  lane.behind.stop();
}
console.log(failures.length ? `${failures.length} failures` : 'no failures');
process.exit(failures.length ? 1 : 0);
