// A root that holds what Debian's own essential packages and the dependencies of ours bring, and nothing else: what
// dpkg of this machine has installed of them is copied, about 900 MB. Needs root and mounts of one's own.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const DPKG = '/var/lib/dpkg';

// Mounts of our own, in nobody else's sight.
export function possible() {
  return process.getuid() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
}

function installed() {
  const packages = new Map(), providers = new Map();
  for (const text of readFileSync(`${DPKG}/status`, 'utf8').split('\n\n')) {
    const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
    if (!/ installed$/.test(field('Status'))) continue;
    const one = { text, name: field('Package'), architecture: field('Architecture'), essential: field('Essential') === 'yes',
      depends: `${field('Pre-Depends')}, ${field('Depends')}` };
    packages.set(one.name, one);
    for (const name of field('Provides').split(/,\s*/).filter(Boolean)) {
      const bare = name.split(' ')[0];
      providers.set(bare, [...(providers.get(bare) ?? []), one.name]);
    }
  }
  return { packages, providers };
}

// Of alternatives the one that is installed; `ours` need not be.
function closure({ packages, providers }, depends, ours) {
  const found = new Map();
  const want = (text) => {
    for (const one of text.split(/,\s*/).filter(Boolean)) {
      const names = one.split('|').map((name) => name.trim().split(/[ (:]/)[0]);
      if (names.some((name) => ours.includes(name) || found.has(name))) continue;
      const name = names.find((each) => packages.has(each)) ?? names.flatMap((each) => providers.get(each) ?? [])[0];
      if (!name) throw new Error(`this machine has none of ${one}`);
      if (found.has(name)) continue;
      found.set(name, packages.get(name));
      want(packages.get(name).depends);
    }
  };
  for (const one of packages.values()) if (one.essential) want(one.name);
  for (const text of depends) want(text);
  return [...found.values()];
}

function listOf({ name, architecture }) {
  return [`${name}:${architecture}`, name].map((each) => `${DPKG}/info/${each}.list`).find(existsSync);
}

function copyFiles(packages, root) {
  for (const folder of ['bin', 'sbin', 'lib', 'lib32', 'lib64'].filter((name) => lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink())) {
    mkdirSync(path.join(root, readlinkSync(`/${folder}`)), { recursive: true });
    symlinkSync(readlinkSync(`/${folder}`), path.join(root, folder));
  }
  const names = packages.flatMap((one) => readFileSync(listOf(one), 'utf8').split('\n')).map((name) => name.slice(1))
    .filter((name) => name && name !== '.' && lstatSync(`/${name}`, { throwIfNoEntry: false }));
  const list = path.join(root, 'list');
  writeFileSync(list, [...new Set(names)].join('\n'));
  execFileSync('sh', ['-c', 'tar -C / --no-recursion -cf - -T "$1/list" | tar -C "$1" --keep-directory-symlink -xf - && rm "$1/list"', 'sh', root],
    { stdio: ['ignore', 'ignore', 'pipe'] });
}

// As update-alternatives would link what is there: of every group the file of the highest priority.
function copyAlternatives(root) {
  for (const group of readdirSync(`${DPKG}/alternatives`)) {
    const [, main, ...lines] = readFileSync(`${DPKG}/alternatives/${group}`, 'utf8').split('\n');
    const links = [[group, main]];
    while (lines[0]) links.push(lines.splice(0, 2));
    lines.shift();
    const choices = [];
    while (lines[0]) {
      const [target, priority, ...slaves] = lines.splice(0, links.length + 1);
      if (existsSync(path.join(root, target))) choices.push({ targets: [target, ...slaves], priority: Number(priority) });
    }
    choices.sort((a, b) => b.priority - a.priority);
    links.forEach(([name, link], i) => {
      if (!choices[0]?.targets[i]) return;
      for (const [at, to] of [[`/etc/alternatives/${name}`, choices[0].targets[i]], [link, `/etc/alternatives/${name}`]]) {
        mkdirSync(path.dirname(path.join(root, at)), { recursive: true });
        if (!lstatSync(path.join(root, at), { throwIfNoEntry: false })) symlinkSync(to, path.join(root, at));
      }
    });
  }
}

// depends: the Depends fields of our packages, whose names are `ours`. Says how many packages of Debian there are.
export function make(root, depends, ours) {
  const packages = closure(installed(), depends, ours);
  for (const folder of ['proc', 'dev', 'tmp', 'etc', 'root', ...['info', 'updates', 'triggers'].map((name) => `${DPKG.slice(1)}/${name}`)])
    mkdirSync(path.join(root, folder), { recursive: true });
  copyFiles(packages, root);
  copyAlternatives(root);
  writeFileSync(path.join(root, DPKG, 'status'), packages.map((one) => one.text.trim()).join('\n\n') + '\n\n');
  for (const file of [`${DPKG}/info/format`, ...packages.map(listOf)]) writeFileSync(path.join(root, file), readFileSync(file));
  writeFileSync(path.join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n');
  writeFileSync(path.join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  execFileSync('chmod', ['1777', path.join(root, 'tmp')]);
  execFileSync('ldconfig', ['-r', root]);
  return packages.length;
}

const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };
const words = (root, args) => ['--mount', 'sh', '-c', 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"', root, ...args];
// Nobody in particular.
const stranger = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'];

export function within(root, ...args) {
  return execFileSync('unshare', words(root, args), { encoding: 'utf8', env: environment, maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] });
}
export const asStranger = (root, ...args) => within(root, ...stranger, ...args);
export function startAsStranger(root, ...args) {
  return spawn('unshare', words(root, [...stranger, ...args]), { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
}
