// Load on `arrcoc serve`: node tools/serve_load.mjs BINARY [flags]
//   --seconds 120   --clients 64   how long, and how many ask at once
//   --distinct      every question is another one, so that equal ones cannot be joined
//   --compare       with and without dynamic batching in turn, so that both meet the same machine
//   --rounds 1      of --compare
//   --check         fails unless every status is 200, 429 or 503 and memory is flat after warm-up
//
// Prints one JSON object: answers per second, latencies, statuses, memory, how much faster a picture
// is that was seen before and, with --compare, the ratio.
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import {fileURLToPath} from 'node:url';
import {photographs, pictures, questions} from './load_pictures.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const flag = (name, usual) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const has = (name) => process.argv.includes('--' + name);
const binary = process.argv[2];
const seconds = flag('seconds', 120), clients = flag('clients', 64), rounds = flag('rounds', 1);
const distinct = has('distinct');

// ---- The server

async function serve(...flags) {
  const child = spawn(binary, ['serve', '--port', '0', '--tiny', root + 'models/tiny', ...flags],
                      {stdio: ['ignore', 'pipe', 'ignore']});
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      const found = String(data).match(/http:\S+/);
      if (found) resolve(found[0]);
    });
    child.on('exit', () => reject(new Error('the server did not start')));
  });
  const status = () => readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const memory = () => Number(status().match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  // Processor seconds, of all threads.
  const spent = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13)
      .reduce((a, b) => a + Number(b), 0) / 100;
  const stop = () => new Promise((resolve) => {
    child.on('exit', resolve);
    child.kill('SIGTERM');
  });
  return {url, memory, spent, stop};
}

function post(url, body, agent) {
  const text = JSON.stringify(body);
  return new Promise((resolve) => {
    const request = http.request(url + '/v1/chat/completions', {
      method: 'POST', agent,
      headers: {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text)},
    }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode));
      reply.on('error', () => resolve('cut off'));
    });
    request.on('error', (problem) => resolve(problem.code));
    request.end(text);
  });
}

// ---- The load

let number = 0;
// Two of three requests ask one of four questions about one of three photographs, as many clients do
// with the document of the day; the third brings another picture and a budget of its own.
function request() {
  const n = number++;
  const text = questions[n % questions.length] + (distinct ? ` (${n})` : '');
  const rare = n % 3 === 2;
  const url = rare ? pictures[photographs + (n / 3 | 0) % (pictures.length - photographs)]
                   : pictures[(n / questions.length | 0) % photographs];
  return {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url}}, {type: 'text', text}]}],
          stream: n % 4 === 1, arrcoc: {budget: rare ? [64, 300][n % 2] : 180}};
}

async function load(server, time) {
  const agent = new http.Agent({keepAlive: true, maxSockets: clients});
  const statuses = {}, latencies = [], memory = [];
  const start = performance.now(), before = server.spent();
  const watch = setInterval(() => memory.push(server.memory()), 500);
  await Promise.all(Array.from({length: clients}, async () => {
    while (performance.now() - start < 1000 * time) {
      const began = performance.now();
      const status = await post(server.url, request(), agent);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) latencies.push(performance.now() - began);
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));
  clearInterval(watch);
  agent.destroy();
  return {statuses, latencies, memory, wall: (performance.now() - start) / 1000, processor: server.spent() - before};
}

const sorted = (list) => [...list].sort((a, b) => a - b);
const at = (list, share) => sorted(list)[Math.min(list.length - 1, Math.floor(share * list.length))] ?? 0;

function summary(runs) {
  const all = {answers: 0, wall: 0, processor: 0, statuses: {}, latencies: []};
  for (const run of runs) {
    all.answers += run.latencies.length;
    all.wall += run.wall;
    all.processor += run.processor;
    all.latencies.push(...run.latencies);
    for (const [status, n] of Object.entries(run.statuses)) all.statuses[status] = (all.statuses[status] ?? 0) + n;
  }
  // Of the last run: the second third against the last one.
  const memory = runs.at(-1).memory, third = Math.floor(memory.length / 3);
  return {
    answers: all.answers,
    answers_per_second: +(all.answers / all.wall).toFixed(2),
    answers_per_processor_second: +(all.answers / all.processor).toFixed(2),
    p50_ms: Math.round(at(all.latencies, 0.5)),
    p95_ms: Math.round(at(all.latencies, 0.95)),
    statuses: all.statuses,
    memory_mb: {warm: Math.round(at(memory.slice(third, 2 * third), 0.5)), end: Math.round(at(memory.slice(2 * third), 0.5))},
  };
}

// One picture asked once, then again with other words.
async function cacheGain(server) {
  const ask = async (text, url) => {
    const began = performance.now();
    await post(server.url, {messages: [{role: 'user', content: [
      {type: 'image_url', image_url: {url}}, {type: 'text', text}]}]});
    return performance.now() - began;
  };
  const fresh = [], known = [];
  for (const url of pictures.slice(0, photographs)) {
    fresh.push(await ask('What is the number?', url));
    for (const text of ['What is the sum?', 'What is the time?', 'What is the price?']) known.push(await ask(text, url));
  }
  const mean = (list) => list.reduce((a, b) => a + b) / list.length;
  return {fresh_ms: Math.round(mean(fresh)), known_ms: Math.round(mean(known)), times: +(mean(fresh) / mean(known)).toFixed(2)};
}

const report = {clients, seconds, distinct};
const runs = {batched: [], alone: []};
for (let round = 0; round < (has('compare') ? rounds : 1); ++round) {
  for (const how of has('compare') ? ['batched', 'alone'] : ['batched']) {
    const server = await serve('--batching', String(how === 'batched'), '--request-seconds', '600');
    try {
      if (round === 0 && how === 'batched') report.cache = await cacheGain(server);
      await load(server, Math.min(10, seconds / 3));  // warm-up
      runs[how].push(await load(server, seconds));
    } finally {
      await server.stop();
    }
  }
}
report.batched = summary(runs.batched);
if (has('compare')) {
  report.alone = summary(runs.alone);
  const ratio = (key) => +(report.batched[key] / report.alone[key]).toFixed(2);
  report.ratio = ratio('answers_per_second');
  report.ratio_by_processor_time = ratio('answers_per_processor_second');
}
console.log(JSON.stringify(report, null, 1));
if (has('check')) {
  const odd = Object.keys(report.batched.statuses).filter((status) => !['200', '429', '503'].includes(status));
  const {warm, end} = report.batched.memory_mb;
  if (odd.length > 0) throw new Error('replies that nobody designed: ' + odd);
  if (report.batched.answers === 0) throw new Error('nothing was answered');
  // Allocators keep what threads once had: a tenth and 16 MB are no growth.
  if (end > 1.1 * warm + 16) throw new Error(`memory grows: ${warm} MB after warm-up, ${end} MB at the end`);
}
