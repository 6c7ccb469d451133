// The rooms of the sources, read from their #include lines.
//   node tools/rooms.mjs --check   fails when a room includes a later room, another room's private
//                                  header or the lab, when a function is over 60 lines, a file over
//                                  500, or the tree too large
//   node tools/rooms.mjs --svg     the picture in docs/architecture.md
//   node tools/rooms.mjs           a table of rooms, lines and what each includes
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

// In the order in which they may know each other: a room includes only itself and what is above.
const kRooms = [
  ['base', 'errors, maps, JSON, names', ['error', 'map', 'registry']],
  ['query', 'what is asked', ['query']],
  ['picture', 'pixels and mip levels', ['picture']],
  ['look', 'where does the answer lie? know, then balance', ['texture', 'look', 'balance']],
  ['allocate', 'how many tokens, and where?', ['allocate', 'renew']],
  ['tokens', 'cutting and packing patches', ['tokens']],
  ['models', 'what reads and answers: tiny, Hugging Face', ['weights', 'model', 'bundle', 'hub']],
  ['ask', 'the road: look, allocate, cut, read, again?', ['ask', 'json']],
  ['film', 'one map that follows a film; questions over time', ['film', 'moments']],
  ['media', 'files, films, OCR, drawing', ['decode', 'media']],
  ['capi', 'the road for C and Python', ['c']],
  ['serve', 'HTTP, queue, proxy, page', ['serve']],
  ['cli', 'the command line', []],
];
const kHeaders = 24, kLines = 91900, kProductLines = 59900, kFileLines = 500, kFunctionLines = 60;

const order = new Map(kRooms.map(([name], i) => [name, i]));
const publicRoom = new Map(kRooms.flatMap(([name, , headers]) => headers.map((h) => [h, name])));
const files = execFileSync('git', ['ls-files', 'src', 'include', 'lab'], { cwd: root, encoding: 'utf8' })
  .split('\n').filter((f) => /\.(h|cpp|inc|cu)$/.test(f));

function roomOf(file) {
  const parts = file.split('/');
  if (parts[0] === 'lab') return 'lab';
  if (parts[0] === 'src') return parts[1];
  const header = path.basename(file, '.h');
  return header === 'arrcoc' ? 'cli' : publicRoom.get(header);
}

// Which room an include belongs to, and whether it is private there.
function target(include) {
  const parts = include.split('/');
  if (parts[0] === 'arrcoc') {
    const header = path.basename(include, '.h');
    if (header === 'version') return { room: 'base', open: true };
    return { room: publicRoom.get(header), open: true };
  }
  if (parts[0] === 'lab') return { room: 'lab', open: true };
  return { room: parts[0], open: parts[0] === 'base' };
}

// Functions over the limit: in clang-format's layout a body ends at the brace below its head.
function longFunctions(lines) {
  const out = [];
  let start = -1, indent = 0;
  lines.forEach((line, i) => {
    const head = /\)( const)?( noexcept)?( override)?( ->.*)? \{$|\)$|\}\) \{$|^ {4,}.*\}? \{$/.test(line) && line.endsWith('{');
    const control = /^\s*(if|for|while|switch|else|do|return|namespace|struct|class|enum|try|catch)\b/.test(line);
    if (start < 0 && head && !control && /\)/.test(line)) {
      start = i;
      indent = line.length - line.trimStart().length;
      // The head may have begun on an earlier line, further left.
      for (let k = i; k > Math.max(0, i - 16); --k) {
        if (/[;{}]$/.test(lines[k - 1]) || lines[k - 1].trim() === '' || /^\s*(\/\/|public:|private:|protected:)/.test(lines[k - 1])) {
          indent = lines[k].length - lines[k].trimStart().length;
          start = k;
          break;
        }
      }
    } else if (start >= 0 && line.startsWith(' '.repeat(indent) + '}')) {
      if (i - start + 1 > kFunctionLines) out.push([start + 1, i - start + 1]);
      start = -1;
    }
  });
  return out;
}

const problems = [];
const edges = new Map();  // room -> Map(room -> count)
const lineCount = new Map();
let all = 0, lab = 0;
for (const file of files) {
  const room = roomOf(file);
  if (!room || (room !== 'lab' && !order.has(room))) {
    problems.push(`${file}: belongs to no room`);
    continue;
  }
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
  const count = lines.length - 1;
  all += count;
  if (room === 'lab') lab += count;
  lineCount.set(room, (lineCount.get(room) ?? 0) + count);
  if (count > kFileLines) problems.push(`${file}: ${count} lines, ${kFileLines} are allowed`);
  if (!file.endsWith('.inc'))
    for (const [at, n] of longFunctions(lines)) problems.push(`${file}:${at}: a function of ${n} lines`);
  lines.forEach((line, i) => {
    const found = /^#include "([^"]+)"/.exec(line);
    if (!found) return;
    const to = target(found[1]);
    const where = `${file}:${i + 1}: includes ${found[1]}`;
    if (to.room === undefined || (to.room !== 'lab' && !order.has(to.room))) {
      if (!(room === 'lab' && !found[1].includes('/'))) problems.push(`${where}, of no room`);
      return;
    }
    if (room !== 'lab') {
      if (to.room === 'lab') problems.push(`${where}: the product knows no lab`);
      else if (order.get(to.room) > order.get(room)) problems.push(`${where}, of a later room`);
      else if (to.room !== room && !to.open) problems.push(`${where}, private to ${to.room}`);
      else if (file.startsWith('include/') && !to.open) problems.push(`${where}, which is not public`);
      for (const [a, b] of [['tiny', 'hf'], ['hf', 'tiny'], ['tokenizers', 'hf'], ['tokenizers', 'tiny'], ['weights', 'hf'], ['weights', 'tiny'],
        ['kernels', 'hf'], ['kernels', 'tiny'], ['kernels', 'weights'], ['kernels', 'tokenizers']])
        if (file.startsWith(`src/models/${a}/`) && found[1].startsWith(`models/${b}/`))
          problems.push(`${where}: models/${a} does not know models/${b}`);
    }
    if (to.room !== room) {
      const from = edges.get(room) ?? new Map();
      from.set(to.room, (from.get(to.room) ?? 0) + 1);
      edges.set(room, from);
    }
  });
}
const headers = files.filter((f) => f.startsWith('include/')).length;
if (headers > kHeaders) problems.push(`${headers} public headers, ${kHeaders} are allowed`);
if (all > kLines) problems.push(`${all} lines in src, include and lab; ${kLines} are allowed`);
if (all - lab > kProductLines) problems.push(`${all - lab} lines without the lab; ${kProductLines} are allowed`);

function svg() {
  const height = 46, gap = 12, left = 20, width = 470, right = 240;
  const y = (i) => 20 + i * (height + gap);
  const total = y(kRooms.length) + 10;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + right + 170} ${total}" font-family="sans-serif" font-size="13">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>'];
  kRooms.forEach(([name, what, own], i) => {
    out.push(`<rect x="${left}" y="${y(i)}" width="${width}" height="${height}" rx="6" fill="#eef3fa" stroke="#4a6fa5"/>`,
      `<text x="${left + 12}" y="${y(i) + 19}" font-weight="bold">${name}</text>`,
      `<text x="${left + 90}" y="${y(i) + 19}">${what}</text>`,
      `<text x="${left + 90}" y="${y(i) + 37}" fill="#555">${own.map((h) => h + '.h').join('  ')}</text>`,
      `<text x="${left + width - 10}" y="${y(i) + 37}" fill="#555" text-anchor="end">${lineCount.get(name) ?? 0} lines</text>`);
  });
  // An arrow to every room that is included, nearer ones further in.
  const x0 = left + width;
  let lane = 0;
  for (const [from, tos] of edges) {
    if (from === 'lab') continue;
    for (const [to] of tos) {
      if (to === 'base') continue;  // everybody
      const a = y(order.get(from)) + height / 2, b = y(order.get(to)) + height / 2;
      const bend = x0 + 14 + 14 * (order.get(from) - order.get(to)) + (lane++ % 3) * 4;
      out.push(`<path d="M${x0} ${a} C${bend} ${a} ${bend} ${b} ${x0 + 4} ${b}" fill="none" stroke="#4a6fa5" stroke-opacity="0.45"/>`,
        `<path d="M${x0 + 1} ${b} l7 -4 v8 z" fill="#4a6fa5"/>`);
    }
  }
  const labX = x0 + right;
  out.push(`<rect x="${labX}" y="20" width="140" height="${total - 42}" rx="6" fill="#f6f0e4" stroke="#a5834a"/>`,
    `<text x="${labX + 12}" y="40" font-weight="bold">lab</text>`,
    ...['scenes', 'train', 'baselines', 'measure', 'fit', 'cli'].map((n, i) => `<text x="${labX + 12}" y="${66 + 22 * i}">${n}</text>`),
    `<text x="${labX + 12}" y="${total - 74}" fill="#555">${lab} lines</text>`,
    `<text x="${labX + 12}" y="${total - 54}" fill="#555">sees every room,</text>`,
    `<text x="${labX + 12}" y="${total - 38}" fill="#555">no room knows it</text>`, '</svg>');
  return out.join('\n') + '\n';
}

if (process.argv.includes('--svg')) {
  process.stdout.write(svg());
} else if (process.argv.includes('--check')) {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`${files.length} files, ${all} lines (${all - lab} without the lab), ${headers} public headers: every room in its place`);
} else {
  for (const [name] of [...kRooms, ['lab']]) {
    const to = [...(edges.get(name) ?? new Map())].map(([room, n]) => `${room} ${n}`).join(', ');
    console.log(`${name.padEnd(9)} ${String(lineCount.get(name) ?? 0).padStart(6)} lines  includes ${to}`);
  }
  console.log(`all ${all}, without the lab ${all - lab}; ${problems.length} problems (--check)`);
}
