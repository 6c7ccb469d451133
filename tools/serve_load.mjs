// Load on `arrcoc serve`: node tools/serve_load.mjs BINARY [--seconds 30] [--clients 64] [--rounds 2]
//   [--distinct]   every question is another one, so that equal ones cannot be joined
//
// Starts the server with and without dynamic batching in turn, so that both meet the same machine,
// and prints one JSON object: answers per second of both and their ratio, latencies, statuses, memory
// after warm-up and at the end, and how much faster a picture is that was seen before.
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const flag = (name, usual) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const binary = process.argv[2];
const seconds = flag('seconds', 30), clients = flag('clients', 64), rounds = flag('rounds', 2);
const distinct = process.argv.includes('--distinct');

const pictures = ['receipt.jpg', 'chart.jpg', 'street.jpg'].map(
    (name) => 'data:image/jpeg;base64,' + readFileSync(root + 'examples/pictures/' + name).toString('base64'));
const questions = ['What is the total?', 'What is the date?', 'What is the name?', 'Which one is the largest?'];

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
  const memory = () => Number(readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const stop = () => new Promise((resolve) => {
    child.on('exit', resolve);
    child.kill('SIGTERM');
  });
  return {url, memory, stop};
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
    });
    request.on('error', (problem) => resolve(problem.code));
    request.end(text);
  });
}

let number = 0;
function request() {
  const n = number++;
  const text = questions[n % questions.length] + (distinct ? ` (${n})` : '');
  return {messages: [{role: 'user', content: [
    {type: 'image_url', image_url: {url: pictures[(n / questions.length | 0) % pictures.length]}},
    {type: 'text', text},
  ]}], arrcoc: {budget: [64, 180, 300][n % 3]}};
}

async function load(server, time) {
  const agent = new http.Agent({keepAlive: true, maxSockets: clients});
  const statuses = {}, latencies = [];
  const start = performance.now();
  const middle = setTimeout(() => { load.warm = server.memory(); }, 1000 * time / 3);
  await Promise.all(Array.from({length: clients}, async () => {
    while (performance.now() - start < 1000 * time) {
      const began = performance.now();
      const status = await post(server.url, request(), agent);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) latencies.push(performance.now() - began);
    }
  }));
  clearTimeout(middle);
  agent.destroy();
  const spent = (performance.now() - start) / 1000;
  return {statuses, latencies, spent};
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
  for (const url of pictures) {
    fresh.push(await ask('What is the number?', url));
    for (const text of ['What is the sum?', 'What is the time?', 'What is the price?']) known.push(await ask(text, url));
  }
  const mean = (list) => list.reduce((a, b) => a + b) / list.length;
  return {fresh_ms: Math.round(mean(fresh)), known_ms: Math.round(mean(known)), times: +(mean(fresh) / mean(known)).toFixed(2)};
}

const report = {clients, seconds, rounds, distinct};
const sums = {};
for (let round = 0; round < rounds; ++round) {
  for (const batching of ['true', 'false']) {
    const server = await serve('--batching', batching, '--queue', '1024', '--request-seconds', '600');
    if (round === 0 && batching === 'true') report.cache = await cacheGain(server);
    await load(server, Math.min(5, seconds / 3));  // warm-up
    const {statuses, latencies, spent} = await load(server, seconds);
    const sum = sums[batching] ??= {answers: 0, seconds: 0, statuses: {}, latencies: [], memory_mb: []};
    sum.answers += latencies.length;
    sum.seconds += spent;
    for (const [status, n] of Object.entries(statuses)) sum.statuses[status] = (sum.statuses[status] ?? 0) + n;
    sum.latencies.push(...latencies);
    sum.memory_mb.push([Math.round(load.warm), Math.round(server.memory())]);
    await server.stop();
  }
}
for (const [batching, sum] of Object.entries(sums)) {
  const sorted = sum.latencies.sort((a, b) => a - b);
  report[batching === 'true' ? 'batched' : 'alone'] = {
    answers_per_second: +(sum.answers / sum.seconds).toFixed(2),
    p50_ms: Math.round(sorted[sorted.length >> 1]),
    p95_ms: Math.round(sorted[Math.floor(0.95 * sorted.length)]),
    statuses: sum.statuses,
    memory_mb_third_and_end: sum.memory_mb,
  };
}
report.ratio = +(report.batched.answers_per_second / report.alone.answers_per_second).toFixed(2);
console.log(JSON.stringify(report, null, 1));
