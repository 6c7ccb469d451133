// Honest clients of `arrcoc serve` beside hostile ones: node tools/siege.mjs BINARY [flags]
//   --seconds 600   --clients 64   of the siege; a fifth of it before and after is quiet
//   --hostile 0.05  share of requests that are attacks
//   --check         fails unless every honest answer is the one of a quiet server, /health answers within a
//                   second, memory is flat and honest requests take at most --slower times as long (p95)
//   --slower 1.5    0: times are not judged
//
// Prints one JSON object.
import http from 'node:http';
import net from 'node:net';
import * as zlib from 'node:zlib';
import {serve} from '../tests/web/server.mjs';
import {chunk, greyPng, pictures, photographs, pngUrl, questions} from './load_pictures.mjs';

const binary = process.argv[2];
if (!binary || binary.startsWith('--')) {
  console.error('usage: node tools/siege.mjs BINARY [--seconds N] [--clients N] [--hostile SHARE] [--check] [--slower N]');
  process.exit(2);
}
const flag = (name, usual) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const seconds = flag('seconds', 600), clients = flag('clients', 64), share = flag('hostile', 0.05);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- Honest

const asked = (url, text, budget) => ({
  messages: [{role: 'user', content: [{type: 'image_url', image_url: {url}}, {type: 'text', text}]}],
  arrcoc: {budget},
});

function honest(n) {
  const rare = n % 3 === 2;
  const picture = rare ? photographs + (n / 3 | 0) % (pictures.length - photographs) : (n / questions.length | 0) % photographs;
  const text = questions[n % questions.length], budget = rare ? [64, 300][n % 2] : 180;
  return {key: `${picture} ${text} ${budget}`, body: asked(pictures[picture], text, budget)};
}

function post(url, text, agent, headers = {}) {
  return new Promise((resolve) => {
    const request = http.request(url + '/v1/chat/completions', {
      method: 'POST', agent,
      headers: {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...headers},
    }, (reply) => {
      let said = '';
      reply.on('data', (data) => said += data);
      reply.on('end', () => resolve({status: reply.statusCode, text: said}));
      reply.on('error', () => resolve({status: 'cut off'}));
    });
    request.on('error', (problem) => resolve({status: problem.code}));
    request.end(text);
  });
}

const answer = (text) => JSON.parse(text).choices[0].message.content;

// ---- Hostile: each a function of the server's address; all end by themselves

const longText = zlib.deflateSync(Buffer.alloc(64 << 20, 65));
const bomb = pngUrl(greyPng(16, 16, Buffer.alloc(16 * 17), [
  chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), longText])),
  chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), longText])),
]));
const huge = (() => {
  const png = greyPng(16, 16, Buffer.alloc(16 * 17));
  png.writeUInt32BE(30000, 16);
  png.writeUInt32BE(30000, 20);
  return pngUrl(png);
})();
const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

// Sends the pieces one by one and then waits until the server has had enough, at most so long.
function raw(url, pieces, {gap = 0, patience = 3000, read = true} = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        if (gap) await sleep(gap);
      }
    });
    if (!read) socket.pause();
    else socket.resume();
    const end = setTimeout(() => socket.destroy(), patience);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(end);
      resolve();
    });
  });
}

const attacks = {
  bomb: (url) => post(url, JSON.stringify(asked(bomb, 'What?', 64))),
  huge: (url) => post(url, JSON.stringify(asked(huge, 'What?', 64))),
  halfPicture: (url) => post(url, JSON.stringify(asked(pictures[0].slice(0, 4000), 'What?', 64))),
  silent: (url) => Promise.all(Array.from({length: 20}, () => raw(url, []))),
  dripping: (url) => raw(url, [head + 'Content-Length: 1000\r\n\r\n', ...Array(30).fill(' ')], {gap: 100}),
  headers: (url) => raw(url, ['GET / HTTP/1.1\r\n' + 'X: 1\r\n'.repeat(5000) + '\r\n']),
  smuggled: (url) => raw(url, [head + 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n']),
  ranges: (url) => raw(url, ['GET /page.js HTTP/1.1\r\nHost: localhost\r\nRange: bytes=' +
      Array.from({length: 1500}, (_, i) => `0-${i}`).join(',').slice(0, 7900) + '\r\n\r\n']),
  deep: (url) => post(url, '['.repeat(1 << 20)),
  values: (url) => post(url, '{"messages":[' + '0,'.repeat(1 << 20) + '0]}'),
  gzip: (url) => post(url, zlib.gzipSync(Buffer.alloc(64 << 20, 32)), undefined, {'Content-Encoding': 'gzip'}),
  large: (url) => raw(url, [head + 'Content-Length: 30000000\r\n\r\n', Buffer.alloc(20 << 20, 32)]),
  slowReader: (url) => raw(url, ['GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200)], {read: false}),
  noise: (url) => raw(url, [Buffer.from(Array.from({length: 3000}, (_, i) => (i * 7919) & 255))]),
  hangUp: (url) => raw(url, [head + 'Content-Length: 100000\r\n\r\n{'], {patience: 50}),
};
const names = Object.keys(attacks);

// ---- The siege

async function phase(server, time, hostileShare, known) {
  const agent = new http.Agent({keepAlive: true, maxSockets: clients});
  const out = {statuses: {}, latencies: [], wrong: [], memory: [], health: [], attacks: 0};
  const start = performance.now(), over = () => performance.now() - start >= 1000 * time;
  let number = 0, hostile = 0;
  const watch = setInterval(() => out.memory.push(server.memory()), 500);
  const health = (async () => {
    while (!over()) {
      const began = performance.now();
      const status = await fetch(server.url + '/health').then((r) => r.status, () => 0);
      out.health.push({status, ms: performance.now() - began});
      await sleep(200);
    }
  })();
  await Promise.all([health, ...Array.from({length: clients}, async () => {
    while (!over()) {
      if ((out.attacks + 1) / (number + 1) < hostileShare) {
        ++out.attacks;
        await attacks[names[hostile++ % names.length]](server.url);
        continue;
      }
      const {key, body} = honest(number++);
      const began = performance.now();
      const {status, text} = await post(server.url, JSON.stringify(body), agent);
      out.statuses[status] = (out.statuses[status] ?? 0) + 1;
      if (status !== 200) {
        await sleep(100);
        continue;
      }
      out.latencies.push(performance.now() - began);
      known[key] ??= answer(text);
      if (known[key] !== answer(text)) out.wrong.push({key, was: known[key], is: answer(text)});
    }
  })]);
  clearInterval(watch);
  agent.destroy();
  return out;
}

const at = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))] ?? 0;
const server = await serve(binary, '--request-seconds', '600', '--cache-mb', '64');
const known = {};
let before, siege, after;
try {
  await phase(server, Math.min(10, seconds / 6), 0, known);  // warm-up
  before = await phase(server, seconds / 5, 0, known);
  siege = await phase(server, seconds, share, known);
  after = await phase(server, seconds / 5, 0, known);
} finally {
  const code = await server.stop();
  if (code !== 0) throw new Error('the server ended with ' + code);
}
const quiet = at([...before.latencies, ...after.latencies], 0.95), besieged = at(siege.latencies, 0.95);
const third = Math.floor(siege.memory.length / 3);
const report = {
  clients, seconds, hostile: siege.attacks, honest: siege.latencies.length, statuses: siege.statuses,
  wrong: siege.wrong.length + after.wrong.length,
  p95_ms: {quiet: Math.round(quiet), siege: Math.round(besieged), ratio: +(besieged / quiet).toFixed(2)},
  memory_mb: {quiet: Math.round(at(before.memory, 0.5)), warm: Math.round(at(siege.memory.slice(third, 2 * third), 0.5)),
              end: Math.round(at(siege.memory.slice(2 * third), 0.5)), most: Math.round(Math.max(...siege.memory))},
  health: {asked: siege.health.length, failed: siege.health.filter((h) => h.status !== 200).length,
           slowest_ms: Math.round(Math.max(...siege.health.map((h) => h.ms)))},
};
console.log(JSON.stringify(report, null, 1));
if (process.argv.includes('--check')) {
  const problems = [];
  const odd = Object.keys(report.statuses).filter((status) => !['200', '429', '503'].includes(status));
  if (odd.length > 0) problems.push('replies to honest clients that nobody designed: ' + odd);
  if (report.honest === 0) problems.push('nothing was answered');
  if (report.wrong > 0) problems.push('wrong answers: ' + JSON.stringify([...siege.wrong, ...after.wrong][0]));
  const slower = flag('slower', 1.5);
  if (report.health.failed > 0 || (slower > 0 && report.health.slowest_ms > 1000)) problems.push('/health did not answer');
  if (report.memory_mb.end > 1.1 * report.memory_mb.warm + 16) problems.push('memory grows');
  if (slower > 0 && report.p95_ms.ratio > slower) problems.push('honest clients wait too long');
  if (problems.length > 0) throw new Error(problems.join('; '));
}
