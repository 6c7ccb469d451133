// Runs every example and looks at what it says: node run.mjs PATH_OF_ARRCOC [PART_OF_A_NAME]
// A file of examples/ that neither this nor another test runs is a failure.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import * as fs from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {folderOf, startHub} from '../web/hub_server.mjs';
import {freePort} from '../web/ports.mjs';
import {run, serve} from '../web/server.mjs';

const binary = path.resolve(process.argv[2]), only = process.argv[3] ?? '';
const programs = path.join(path.dirname(binary), 'examples');
const root = fileURLToPath(new URL('../../', import.meta.url));
const work = fs.mkdtempSync(path.join(tmpdir(), 'arrcoc-examples-'));
fs.cpSync(root + 'examples', work + '/examples', {recursive: true});
fs.symlinkSync(root + 'tests/web/node_modules', work + '/node_modules');
const receipt = 'examples/pictures/receipt.jpg', total = 'What is the total?';
const env = {...process.env, ARRCOC: binary, HOME: work, ARRCOC_MODELS: root + 'models'};

// What a program says on standard output; `input` may be written to it while it runs.
function say(program, args = [], more = {}, during = async () => {}) {
  const child = spawn(program, args, {cwd: work, env: {...env, ...more}, stdio: ['pipe', 'pipe', 'pipe']});
  let out = '', err = '';
  child.stdout.on('data', (data) => out += data);
  child.stderr.on('data', (data) => err += data);
  const ended = new Promise((resolve, reject) => child.on('close', (code) =>
    code === 0 ? resolve(out) : reject(new Error(`${program} ${args.join(' ')}: ${code}\n${out}${err}`))));
  return Promise.all([ended, during(child, () => out)]).then(([said]) => said);
}
const shell = (name, args, more) => say('bash', [`examples/shell/${name}`, ...args], more);
const cpp = (name, args, more, during) => say(path.join(programs, `example_${name}`), args, more, during);
async function withServer(flags, use) {
  const server = await serve(binary, ...flags);
  try {
    return await use(server.url);
  } finally {
    assert.equal(await server.stop(), 0);
  }
}
const client = (name) => () => withServer([], async (url) => {
  assert.match(await say(process.execPath, [`examples/clients/${name}`, receipt, total], {ARRCOC_URL: url}), /33\.10/);
});

// By the file's name below examples/.
const examples = {
  '01_look.cpp': async () => {
    assert.match(await cpp('01_look', [receipt, total]), /^\d+ tokens instead of \d+/);
    assert.ok(fs.statSync(work + '/look.png').size > 1000);
  },
  '02_compare.cpp': async () => {
    const said = await cpp('02_compare', [receipt, total, 'What is the date?']);
    assert.match(said, /total\? +\d+ tokens, map differs from the first by 0\.000/);
    assert.match(said, /date\? +\d+ tokens, map differs from the first by (?!0\.000)/);
    assert.match(said, /^fast +64 tokens/m);
  },
  '03_ask.cpp': async () => assert.match(await cpp('03_ask', [receipt, total, 'What is the date?']), /33\.10[\s\S]*10 jul 2024/),
  '04_watch.cpp': async () => {
    fs.mkdirSync(work + '/frames');
    for (const n of [1, 2, 3]) fs.copyFileSync(`${work}/examples/pictures/street.jpg`, `${work}/frames/${n}.jpg`);
    await say(binary, ['watch', 'frames/', 'the car', '--video', 'film.mp4']);
    assert.equal([...(await cpp('04_watch', ['film.mp4', 'the car'])).matchAll(/^frame +\d+ +\d+ tokens/gm)].length, 3);
  },
  '05_look_again.cpp': async () => {
    assert.match(await cpp('05_look_again', ['examples/pictures/zoo.jpg', 'What are the ingredients of the snack?', 'strip.png']), /tokens in all; stopped/);
    assert.ok(fs.statSync(work + '/strip.png').size > 1000);
  },
  '06_serve.cpp': async () => {
    await cpp('06_serve', [], {}, async (child, said) => {
      while (!said().includes('Enter')) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal((await fetch(/http:\S+\d/.exec(said())[0] + '/health')).status, 200);
      child.stdin.end('\n');
    });
  },
  'clients/curl.sh': () => withServer([], async (url) => {
    const reply = JSON.parse(await say('bash', ['examples/clients/curl.sh', receipt, total], {ARRCOC_URL: url}));
    assert.equal(reply.choices[0].message.content, '33.10');
  }),
  'clients/openai.mjs': client('openai.mjs'),
  'clients/responses.mjs': client('responses.mjs'),
  'clients/anthropic.mjs': client('anthropic.mjs'),
  'clients/ollama.mjs': client('ollama.mjs'),
  'clients/mcp.mjs': async () => {
    const [read, zoomed] = (await say(process.execPath, ['examples/clients/mcp.mjs', receipt, total])).split('\n');
    assert.match(read, /^33\.10 0\.\d+ \d+ of \d+ tokens$/);
    assert.match(zoomed, /worth a look/);
    const flags = [{command: ['mcp', '--http', '--root', root + 'examples/pictures']}];
    await withServer(flags, async (url) => {
      assert.match(await say(process.execPath, ['examples/clients/mcp.mjs', receipt, total], {ARRCOC_URL: url}), /^33\.10 /);
    });
  },
  'shell/ask.sh': async () => {
    const said = await shell('ask.sh', []);
    assert.match(said, /answer +33\.10/);
    assert.equal([...said.matchAll(/^\{.*"answer": ?"(?:33\.10|10 jul 2024)"/gm)].length, 3);
    assert.match(said, /\u2580/);
  },
  'shell/mcp.sh': async () => {
    assert.equal(JSON.parse(await shell('mcp.sh', [])).result.structuredContent.answer, '33.10');
    assert.equal(JSON.parse(await shell('mcp.sh', [receipt, 'What is\n"the" \\date?'])).id, 2);
  },
  'shell/pull.sh': async () => {
    const commit = 'c0ffee'.padEnd(40, '0');
    const hub = await startHub({'acme/tiny': {commit, files: folderOf(root + 'models/tiny')}});
    try {
      const said = await shell('pull.sh', ['acme/tiny'], {HF_ENDPOINT: hub.url, HF_HOME: work + '/hf'});
      assert.match(said, new RegExp(`^in ${work}/hf/hub/models--acme--tiny/snapshots/${commit}$`, 'm'));
      assert.match(said, /answer +33\.10/);
    } finally {
      hub.stop();
    }
  },
  'shell/proxy.sh': () => withServer([], async (url) => {
    const said = await shell('proxy.sh', [url], {PORT: String(await freePort())});
    const reply = JSON.parse(said.split('\n').find((line) => line.startsWith('{')));
    assert.equal(reply.object, 'chat.completion');
    assert.match(said, /arrcoc-tiny +1\b/);
  }),
};
// By other tests: a program each, and a script that names them.
const elsewhere = (file, tests) => path.dirname(file) === 'c' ? tests.includes(`: examples.c.${path.parse(file).name}\n`) :
  path.dirname(file) === 'python' && tests.includes(': python.install\n') &&
    new RegExp(`\\b${path.parse(file).name}\\b`).test(fs.readFileSync(root + 'tests/python/install.sh', 'utf8'));

try {
  await run({
    async 'every example is run by a test'() {
      const tests = execFileSync('ctest', ['--test-dir', path.dirname(binary), '-N'], {encoding: 'utf8'});
      const files = fs.readdirSync(root + 'examples', {recursive: true}).map(String)
        .filter((name) => /\.(cpp|c|sh|mjs|py)$/.test(name) && !name.includes('__pycache__'));
      assert.ok(files.length > 15);
      for (const file of files) assert.ok(file in examples || elsewhere(file, tests), `no test runs examples/${file}`);
      for (const name of Object.keys(examples)) assert.ok(files.includes(name), `examples/${name} is gone`);
      for (const script of files.filter((name) => name.endsWith('.sh')))
        assert.ok(fs.statSync(`${root}examples/${script}`).mode & 0o111, `${script} cannot be executed`);
    },
    ...Object.fromEntries(Object.entries(examples).filter(([name]) => name.includes(only))),
  });
} finally {
  fs.rmSync(work, {recursive: true});
}
