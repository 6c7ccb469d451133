// Every command line of README.md, CONTRIBUTING.md and docs/: run here, or marked with who runs it.
//
//   node tests/docs/commands.mjs build/release/arrcoc [--list] [--only TEXT]
//
// A block whose line before it is <!-- run by: TEST --> is run by that test of ctest (which must
// exist); <!-- not run: REASON --> marks a block, "(not run)" in its comment a line. All others are
// run in a scratch folder that holds what they name, optional parts in [brackets] left out.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../web/ports.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const PROGRAM = /^(?:[A-Z_]+=\S+ )*(?:arrcoc(?:[-_]\w+)?(?= )|\.\/run|node|npm|npx|ctest|cmake|curl|docker|kubectl|python3|pip|dpkg|apt|tools\/\S+|examples\/\S+|for|sudo|gcc|g\+\+|ln|mkdir|cp|git|claude|systemctl|hf|pkg-config|bash|sh|v\/bin\/\w+)(?![\w-])/;

function* commandsOf(file) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  let mark = null, inside = false, fenced = false;
  for (let i = 0; i < lines.length; ++i) {
    const line = lines[i];
    const marked = line.match(/^\s*<!-- (run by|not run): (.+) -->$/);
    if (marked) { mark = { kind: marked[1], text: marked[2] }; continue; }
    if (line.startsWith('```')) { fenced = !fenced; inside = fenced; if (!fenced) mark = null; continue; }
    const block = fenced || line.startsWith('    ');
    if (inside && !block && line.trim()) { inside = false; mark = null; }
    if (!block) continue;
    inside = true;
    let text = line.trim();
    const at = i + 1;
    while (text.endsWith('\\')) text = text.slice(0, -1).trim() + ' ' + lines[++i].trim();
    const [, command, comment = ''] = text.match(/^(.*?)(?:\s+#\s(.*))?$/);
    if (!PROGRAM.test(command)) continue;
    const own = /\(not run\)/.test(comment) ? { kind: 'not run', text: comment } : mark;
    yield { file, line: at, command, mark: own };
  }
}

export function allCommands() {
  const files = ['README.md', 'CONTRIBUTING.md',
                 ...readdirSync(join(root, 'docs')).filter(f => f.endsWith('.md')).map(f => `docs/${f}`)];
  return files.flatMap(file => [...commandsOf(file)]);
}

// What the commands name, in a folder of their own.
function scratch(program) {
  const folder = mkdtempSync(join(tmpdir(), 'arrcoc-docs-'));
  const pictures = join(root, 'examples/pictures');
  for (const [to, from] of Object.entries({
    'receipt.jpg': 'receipt.jpg', 'photo.jpg': 'street.jpg', 'before.png': 'receipt.jpg',
    'after.png': 'chart.jpg', 'shop1.png': 'receipt.jpg', 'shop2.png': 'zoo.jpg' }))
    copyFileSync(join(pictures, from), join(folder, to));
  for (const name of ['models', 'configs', 'assets']) symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  symlinkSync(join(root, 'tests/web/node_modules'), join(folder, 'node_modules'));
  for (const name of ['frames', 'Pictures', 'scans']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'key'), 'sk-docs\n', { mode: 0o600 });
  for (const n of [1, 2, 3]) copyFileSync(join(pictures, 'street.jpg'), join(folder, `frames/${n}.jpg`));
  writeFileSync(join(folder, 'questions.jsonl'), '{"image": "receipt.jpg", "question": "What is the total?"}\n');
  const run = (...args) => execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
  run('synth', '--kind', 'documents', '--count', '2', '--seed', '8', '--out', 'made');
  run('watch', 'frames/', 'the car', '--video', 'film.mp4');
  return folder;
}

// Folders of pictures with questions, as new: the lines of one file do not meet those of another.
function laidOut(folder) {
  for (const copy of ['DIR', 'OTHER', 'scans', 'mine/receipts', 'mine/others']) {
    rmSync(join(folder, copy), { recursive: true, force: true });
    cpSync(join(folder, 'made'), join(folder, copy), { recursive: true });
  }
}

// A server that answers, what is done with it, and its end by itself when it is asked to.
async function serves(program, args, folder, use = () => ({ code: 0, said: '' })) {
  const port = await freePort();
  if (args.includes('--port')) args.splice(args.indexOf('--port'), 2);
  const child = spawn(program, [...args, '--port', String(port)],
    { cwd: folder, env: { ...process.env, HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', d => (said += d));
  const ended = new Promise(done => child.on('exit', (code, signal) => done(signal ?? code)));
  let healthy = false;
  for (let tries = 0; tries < 600 && !healthy && child.exitCode === null; ++tries) {
    healthy = (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok ?? false;
    if (!healthy) await new Promise(done => setTimeout(done, 100));
  }
  const used = healthy ? use(`http://127.0.0.1:${port}`) : { code: 'never ready', said };
  child.kill('SIGTERM');
  const code = await ended;
  return used.code === 0 ? { code, said } : used;
}

function plain(command) {
  let out = command;
  for (let before = ''; before !== out;) { before = out; out = out.replace(/\s*\[[^\][]*\]/g, ''); }
  return out;
}

function words(command) {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(m => m[1] ?? m[2] ?? m[3]);
}

async function runs(program, folder, { command }) {
  const [first, ...args] = words(plain(command)).map(word => word.replace(/^~(?=\/)/, folder));
  const run = (file, list, env = {}) => {
    const done = spawnSync(file, list, { cwd: folder, encoding: 'utf8', timeout: 600_000, input: '', env: { ...process.env, HOME: folder, ...env } });
    return { code: done.signal ?? done.status, said: `${done.stderr}${done.error ?? ''}` };
  };
  // mcp without --http ends with its input.
  if (first === 'arrcoc') return args[0] === 'serve' || args.includes('--http') ? serves(program, args, folder) : run(program, args);
  if (/examples\/clients\//.test(command)) return serves(program, ['serve'], folder, url => run(first, args, { ARRCOC_URL: url }));
  return { code: 1, said: `${first} is not run here: mark the line` };
}

async function main() {
  const [program, ...flags] = process.argv.slice(2);
  const only = flags.includes('--only') ? flags[flags.indexOf('--only') + 1] : '';
  const all = allCommands();
  if (flags.includes('--list')) {
    for (const c of all) console.log(`${c.file}:${c.line}: ${c.mark ? `[${c.mark.kind}] ` : ''}${c.command}`);
    return 0;
  }
  const tests = execFileSync('ctest', ['--test-dir', dirname(resolve(program)), '-N'], { encoding: 'utf8' });
  const folder = scratch(resolve(program));
  let failed = 0;
  const count = { run: 0, 'run by': 0, 'not run': 0 };
  let file = '';
  for (const c of all.filter(c => c.command.includes(only))) {
    ++count[c.mark?.kind ?? 'run'];
    if (file !== c.file) laidOut(folder);
    file = c.file;
    let problem = '';
    if (c.mark?.kind === 'run by') {
      if (!tests.includes(`: ${c.mark.text}`)) problem = `there is no test ${c.mark.text}`;
    } else if (!c.mark) {
      const { code, said } = await runs(resolve(program), folder, c);
      if (code !== 0) problem = `${code}: ${said.trim().split('\n').slice(-3).join(' / ')}`;
      else console.log(`ok ${c.file}:${c.line}: ${c.command}`);
    }
    if (problem) { ++failed; console.log(`FAILED ${c.file}:${c.line}: ${c.command}\n    ${problem}`); }
  }
  rmSync(folder, { recursive: true, force: true });
  console.log(`${count.run} command lines run here, ${count['run by']} by other tests, ${count['not run']} marked as not run; ${failed} failed`);
  return failed ? 1 : 0;
}

process.exitCode = await main();
