// node run.mjs BUILD SOURCES WORK: builds the packages, installs them into an empty root by dpkg, and uses what lies
// there as a stranger would: the demo's questions, the page, C by pkg-config, Python, completions, the manual; moves
// an installed prefix; removes everything again. Libraries of Debian are the host's there: that root holds ours alone.
// Where mounts are allowed, product and model are installed into a second root as well, which has Debian's essential
// packages and their dependencies (fresh_root.mjs): there dpkg checks what they depend on, and nothing is the host's.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fresh from './fresh_root.mjs';

const [build, sources, work] = process.argv.slice(2).map((folder) => path.resolve(folder));
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const pictures = path.join(sources, 'examples/pictures');
// Nothing of the sources or of the user's settings helps.
const bare = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };
const run = (program, args, options = {}) =>
  execFileSync(program, args, { encoding: 'utf8', env: bare, cwd: work, stdio: ['ignore', 'pipe', 'pipe'], ...options });
const say = (text) => console.log(text);

// ---- Building
run('cmake', ['--build', build, '--target', 'packages'], { env: process.env });
const debs = readdirSync(path.join(build, 'packages')).filter((name) => name.endsWith('.deb'))
  .map((name) => path.join(build, 'packages', name));
const field = (deb, name) => run('dpkg-deb', ['-f', deb, name]).trim();
const packages = new Map(debs.map((deb) => [field(deb, 'Package'), deb]));
for (const name of ['arrcoc', 'libarrcoc-c0', 'libarrcoc-dev', 'arrcoc-model-tiny', 'python3-arrcoc'])
  assert.ok(packages.has(name), `${name} was not built`);
for (const needed of ['libtorch1.13', 'libopencv-core406', 'libcpp-httplib0.11', 'arrcoc-model-tiny', 'libc6'])
  assert.match(field(packages.get('arrcoc'), 'Depends'), new RegExp(`(^|, )${needed}\\b`));
assert.match(field(packages.get('libarrcoc-c0'), 'Depends'), /libtorch1\.13/);
const sizes = debs.map((deb) => `${path.basename(deb)} ${(statSync(deb).size / 1e6).toFixed(1)} MB`);
say(`built:\n  ${sizes.join('\n  ')}`);

// ---- Installing into an empty root
const root = path.join(work, 'root');
for (const folder of ['info', 'updates', 'triggers']) mkdirSync(path.join(root, 'var/lib/dpkg', folder), { recursive: true });
for (const file of ['status', 'available']) writeFileSync(path.join(root, 'var/lib/dpkg', file), '');
const dpkg = (...args) => run('dpkg', [`--root=${root}`, '--force-not-root', '--force-depends', '--force-script-chrootless', `--log=${work}/dpkg.log`, ...args],
  { env: { ...bare, PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } });
dpkg('--install', ...debs);
const usr = path.join(root, 'usr');
const arrcoc = path.join(usr, 'bin/arrcoc');
const version = run(arrcoc, ['--version']).trim();
assert.equal(version, `arrcoc ${field(packages.get('arrcoc'), 'Version')}`);

// ---- The demo's questions, as ./run asks them
const demo = readFileSync(path.join(sources, 'run'), 'utf8').match(/<<'QUESTIONS'\n([\s\S]*?)\nQUESTIONS/)[1].split('\n');
const answers = demo.map((line) => {
  const [picture, question] = line.split('|');
  const out = path.join(work, 'map.png');
  const reply = JSON.parse(run(arrcoc, ['ask', path.join(pictures, picture), question, '--json', '--heatmap', out]));
  assert.ok(statSync(out).size > 1000);
  assert.ok(reply.answer && reply.tokens <= 400, JSON.stringify(reply));
  return reply.answer;
});
assert.equal(demo.length, 4);
assert.deepEqual(answers.slice(0, 2), ['33.10', '10 jul 2024']);
say(`answers: ${answers.join(' | ')}`);

// ---- The page and an answer over HTTP
async function answersOverHttp(server) {
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    const url = await new Promise((resolve, reject) => {
      let text = '';
      server.stdout.on('data', (more) => {
        text += more;
        const found = /http:\/\/\S+/.exec(text);
        if (found) resolve(found[0]);
      });
      server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const page = await (await fetch(`${url}/`)).text();
    assert.match(page, /<html[\s\S]*<\/html>/);
    const image = `data:image/jpeg;base64,${readFileSync(path.join(pictures, 'receipt.jpg')).toString('base64')}`;
    const reply = await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: image } }, { type: 'text', text: 'What is the total?' }] }] }) })).json();
    assert.equal(reply.choices[0].message.content, '33.10');
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}
await answersOverHttp(spawn(arrcoc, ['serve', '--port', '0'], { env: bare, cwd: work, stdio: ['ignore', 'pipe', 'inherit'] }));
say('serves the page, and answers with decoding apart');

// ---- The same in a fresh root, with dpkg's own judgement of what is needed, as nobody in particular
if (fresh.possible()) {
  const ground = path.join(work, 'fresh'), ours = ['arrcoc', 'arrcoc-model-tiny'];
  const count = fresh.make(ground, ours.map((name) => field(packages.get(name), 'Depends')), ours);
  const files = () => run('find', [ground, '-xdev', '-not', '-path', `${ground}/var/lib/dpkg/*`, '-not', '-name', 'ld.so.cache', '-not', '-path', `${ground}/var/log/*`, '-not', '-path', `${ground}/var/cache/ldconfig/*`, '-not', '-type', 'd']);
  mkdirSync(path.join(ground, 'debs'));
  for (const name of ours) copyFileSync(packages.get(name), path.join(ground, `debs/${name}.deb`));
  const before = files();
  fresh.within(ground, 'dpkg', '--install', ...ours.map((name) => `/debs/${name}.deb`));
  const there = demo.map((line) => {
    const [picture, question] = line.split('|');
    return JSON.parse(fresh.asStranger(ground, 'arrcoc', 'ask', `/usr/share/arrcoc/examples/pictures/${picture}`, question, '--json')).answer;
  });
  assert.deepEqual(there, answers);
  await answersOverHttp(fresh.startAsStranger(ground, 'arrcoc', 'serve', '--port', '0'));
  const health = JSON.parse(fresh.asStranger(ground, 'sh', '-c', 'cd /tmp && arrcoc doctor --json --port 65123'));
  assert.ok(health.ok, JSON.stringify(health));
  // As if the service had been enabled and had run.
  fresh.within(ground, 'sh', '-ec', 'DPKG_MAINTSCRIPT_PACKAGE=arrcoc deb-systemd-helper enable arrcoc.service; for f in lib cache; do mkdir -p /var/$f/private/arrcoc; echo >/var/$f/private/arrcoc/it; ln -s private/arrcoc /var/$f/arrcoc; done');
  assert.match(files(), /multi-user\.target\.wants\/arrcoc\.service/);
  fresh.within(ground, 'dpkg', '--purge', ...ours);
  assert.equal(files(), before);
  rmSync(ground, { recursive: true });
  say(`the same in a fresh root of ${count} packages of Debian, and it is clean again`);
} else {
  say('no fresh root: that needs root and mounts of its own');
}

// ---- Shells and the manual know every flag that --help shows
function shells(program, name, share, nested) {
  const files = { bash: `bash-completion/completions/${name}`, zsh: `zsh/vendor-completions/_${name}`, fish: `fish/vendor_completions.d/${name}.fish` };
  const file = Object.fromEntries(Object.entries(files).map(([shell, place]) => [shell, path.join(share, place)]));
  const manual = run('sh', ['-c', `gzip -dc '${share}/man/man1/${name}.1.gz'`]);
  const there = (shell) => spawnSync(shell, ['-c', 'true'], { env: bare }).status === 0;
  for (const shell of ['bash', 'zsh', 'fish'].filter(there)) run(shell, ['-n', file[shell]]);
  for (const command of ['', ...nested]) {
    const help = run(program, [...command.split(' ').filter(Boolean), '--help']);
    const flags = [...help.matchAll(/^ {2}(?:-\w,)?(--[a-z][a-z0-9-]*)/gm)].map((found) => found[1]);
    const own = flags.filter((flag) => flag !== '--help');
    assert.ok(own.length > 0);
    const line = `${name} ${command} --`.replace('  ', ' ').split(' ');
    const offered = run('bash', ['-c', `source '${file.bash}'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${name.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash', ...line]).split('\n');
    const known = readFileSync(file.zsh, 'utf8');
    for (const flag of command === '' ? ['--version', '--threads'] : own) {
      assert.ok(offered.includes(flag), `bash: ${command} ${flag}`);
      assert.ok(known.includes(`'${flag}:`), `zsh: ${command} ${flag}`);
      assert.ok(manual.includes(flag.replaceAll('-', '\\-')), `manual: ${command} ${flag}`);
    }
    if (command !== '' && there('fish'))
      assert.ok(run('fish', ['--no-config', '-c', `source '${file.fish}'; complete -C '${name} ${command} ${own[0]}'`]).startsWith(own[0]));
  }
  const page = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input: manual, encoding: 'utf8', env: bare });
  if (!page.error) assert.equal(page.stderr, '');
}
shells(arrcoc, 'arrcoc', path.join(usr, 'share'), ['look', 'ask', 'serve', 'models check']);
if (packages.has('arrcoc-lab')) {
  shells(path.join(usr, 'bin/arrcoc-lab'), 'arrcoc-lab', path.join(usr, 'share'), ['eval']);
  assert.match(run(arrcoc, ['synth', '--kind', 'mixed', '--count', '1', '--out', path.join(work, 'scenes')]), /./);
}

// ---- The unit, by systemd's own judgement
if (spawnSync('systemd-analyze', ['--version'], { env: bare }).status === 0) {
  const unit = path.join(usr, 'lib/systemd/system/arrcoc.service');
  run('systemd-analyze', ['security', '--offline=yes', '--threshold=20', unit]);
  // What it names exists, and every setting is one that systemd knows.
  const here = path.join(work, 'arrcoc.service');
  writeFileSync(here, readFileSync(unit, 'utf8').replace('/usr/bin/arrcoc', arrcoc));
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', here], { encoding: 'utf8', env: bare });
  assert.doesNotMatch(verified.stderr, /arrcoc\.service/);
}

// ---- What it is made of
const bill = JSON.parse(readFileSync(path.join(usr, 'share/doc/arrcoc/arrcoc.spdx.json'), 'utf8'));
const torch = bill.packages.find((one) => one.name === 'libtorch1.13');
assert.equal(torch.versionInfo, run('dpkg-query', ['-W', '-f', '${Version}', 'libtorch1.13']));
assert.equal(bill.relationships.filter((one) => ['DEPENDS_ON', 'CONTAINS'].includes(one.relationshipType)).length, bill.packages.length - 1);
for (const name of ['nlohmann-json3-dev', 'libcli11-dev'])  // headers that became part of the programs
  assert.ok(bill.packages.some((one) => one.name === name && /MIT|BSD/.test(one.licenseComments)), name);
assert.equal(new Set(bill.packages.map((one) => one.SPDXID)).size, bill.packages.length);
for (const name of packages.keys()) {
  assert.ok(existsSync(path.join(usr, 'share/doc', name, 'copyright')), name);
  run('sh', ['-c', `gzip -dc '${usr}/share/doc/${name}/changelog.gz' | dpkg-parsechangelog -l - -S Version`]);
}
say(`bill of materials: ${bill.packages.length - 1} packages of Debian`);

// ---- C by pkg-config and Python, in the root and in a prefix that was moved
function embed(prefix, libraries) {
  const flags = run('pkg-config', ['--cflags', '--libs', 'arrcoc-c'],
    { env: { ...bare, PKG_CONFIG_LIBDIR: `${libraries}/pkgconfig`, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS: '1' } }).trim().split(/\s+/);
  const program = path.join(work, 'ask');
  run('gcc', ['-std=c99', path.join(sources, 'examples/c/ask.c'), '-o', program, ...flags]);
  const receipt = [path.join(pictures, 'receipt.jpg'), 'What is the total?'];
  assert.match(run(program, receipt, { env: { ...bare, LD_LIBRARY_PATH: libraries } }), /^33\.10/);
  const python = run('/usr/bin/python3', [path.join(sources, 'examples/python/ask.py'), ...receipt],
    { env: { ...bare, PYTHONPATH: path.join(prefix, 'lib/python3/dist-packages') } });  // and leaves what it compiled
  assert.match(python, /total\? 33\.10/);
}
embed(usr, path.join(usr, 'lib'));
run('cmake', ['--install', build, '--prefix', path.join(work, 'prefix')], { env: process.env });
renameSync(path.join(work, 'prefix'), path.join(work, 'moved elsewhere'));
const moved = path.join(work, 'moved elsewhere');
assert.match(run(path.join(moved, 'bin/arrcoc'), ['ask', path.join(pictures, 'receipt.jpg'), 'What is the total?', '--decode-apart']), /answer +33\.10/);
renameSync(moved, path.join(work, 'moved'));  // pkg-config splits at blanks
embed(path.join(work, 'moved'), path.join(work, 'moved/lib'));
say('C, Python and a moved prefix work');

// ---- Lintian, but for what docs/packages.md names
if (spawnSync('lintian', ['--version'], { env: bare }).status === 0) {
  const known = (readFileSync(path.join(sources, 'docs/packages.md'), 'utf8').match(/^- `[a-z0-9-]+`/gm) ?? []).map((line) => line.slice(3, -1));
  const checked = spawnSync('lintian', ['--no-cfg', '--allow-root', '--fail-on', 'error,warning', '--suppress-tags', known.join(','), ...debs],
    { encoding: 'utf8', env: bare });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  say('lintian finds nothing else');
}

// ---- Removing
dpkg('--purge', ...packages.keys());
const left = run('find', [root, '-path', `${root}/var/lib/dpkg`, '-prune', '-o', '-type', 'f', '-print']).trim();
assert.equal(left, '');
assert.equal(run('dpkg-query', [`--admindir=${root}/var/lib/dpkg`, '-W', '-f', '${db:Status-Status} ']).replaceAll('not-installed', '').trim(), '');
say('removed without a trace');
