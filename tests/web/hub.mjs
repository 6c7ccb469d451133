// arrcoc models pull and --model OWNER/NAME against a local hub: node hub.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import {execFile, execFileSync, spawn} from 'node:child_process';
import * as fs from 'node:fs';
import {createServer, request as httpRequest} from 'node:http';
import {createServer as createHttps} from 'node:https';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {file, folderOf, startHub} from './hub_server.mjs';
import {picturePath, run, serve} from './server.mjs';

const binary = fs.realpathSync(process.argv[2]);
const root = fileURLToPath(new URL('../../', import.meta.url));
const work = fs.mkdtempSync(tmpdir() + '/arrcoc_hub_');
const goldens = root + 'tests/data/goldens/qwen3_vl';
const commit = 'c0ffee'.padEnd(40, '0'), older = '0ldc0de'.replace('l', '1').padEnd(40, '1');

const unwanted = {'README.md': '# x', 'pytorch_model.bin': 'bin', 'model.gguf': 'gguf', 'look.png': 'png', 'onnx/model.onnx': 'onnx'};
const tiny = () => ({commit, revisions: {'v1.0': commit}, files: folderOf(root + 'models/tiny', unwanted)});
const hub = await startHub({'acme/tiny': tiny(), 'acme/qwen3': {commit, files: folderOf(goldens)}});
const shard = Object.keys(hub.models['acme/tiny'].files).find((name) => name.includes('00001-of'));

let homes = 0;
const nextHome = () => `${work}/home${++homes}`;
function freshHome() {
  hub.models['acme/tiny'] = tiny();
  hub.fault = () => undefined;
  hub.log.length = 0;
  return nextHome();
}

function start(args, home, more = {}) {
  const env = {PATH: process.env.PATH, HOME: work, HF_HOME: home, HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_secret', ...more};
  const child = spawn(binary, args, {env, cwd: more.cwd ?? work, stdio: ['ignore', 'pipe', 'pipe']});
  const said = {out: '', err: '', child};
  child.stdout.on('data', (data) => said.out += data);
  child.stderr.on('data', (data) => said.err += data);
  said.ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(Object.assign(said, {code: code ?? signal}))));
  return said;
}
const arrcoc = (args, home, more) => start(args, home, more).ended;
const pull = (home, more, name = 'acme/tiny') => arrcoc(['models', 'pull', name], home, more);
const repo = (home, name = 'tiny') => `${home}/hub/models--acme--${name}`;
async function pulled(home, more, name) {
  const said = await pull(home, more, name);
  assert.equal(said.code, 0, said.err);
  return said;
}
// One line that says so, and nothing that looks whole.
async function refused(home, words, more, name) {
  const said = await pull(home, more, name);
  assert.equal(said.code, 1, said.err);
  assert.match(said.err.trimEnd().split('\n').at(-1), words);
  assert.equal(said.out, '');
  assert.ok(!fs.existsSync(repo(home) + '/refs/main'));
  return said;
}
function whole(home) {
  const files = hub.models['acme/tiny'].files, folder = `${repo(home)}/snapshots/${commit}`;
  for (const name of fs.readdirSync(folder)) {
    assert.equal(fs.readlinkSync(`${folder}/${name}`), '../../blobs/' + files[name].etag);
    assert.ok(fs.readFileSync(`${folder}/${name}`).equals(files[name].bytes), name);
  }
  assert.equal(fs.readFileSync(repo(home) + '/refs/main', 'utf8'), commit);
  assert.deepEqual(fs.readdirSync(repo(home) + '/blobs').filter((name) => name.includes('.')), []);
  return fs.readdirSync(folder).sort();
}
const gets = (where) => hub.log.filter((one) => one.where === where && one.method === 'GET');
const cdnFault = (fault) => ({where, count}) => where === 'cdn' ? fault(count) : undefined;

function certificate() {
  const key = work + '/key.pem', cert = work + '/cert.pem';
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext',
    'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert], {stdio: 'ignore'});
  return {key, cert};
}

const tests = {};

tests['pulls what we need, laid out as huggingface_hub does, and tells nobody else the token'] = async () => {
  const home = freshHome();
  const said = await pulled(home);
  const wanted = Object.keys(hub.models['acme/tiny'].files).filter((name) => !(name in unwanted)).sort();
  assert.deepEqual(whole(home), wanted);
  assert.equal(said.out, `${repo(home)}/snapshots/${commit}\n`);
  assert.ok(!said.err.includes('\r'), 'bars are for terminals');
  assert.equal(gets('cdn').length, 3);
  for (const one of hub.log) assert.equal(one.headers.authorization, one.where === 'cdn' ? undefined : 'Bearer hf_secret');
  const before = hub.log.length;
  await pulled(home);
  assert.deepEqual(hub.log.slice(before).map((one) => one.where), ['api'], 'nothing is fetched twice');
};

tests['answers by name from the cache, without copying and without the network'] = async () => {
  const home = freshHome();
  await pulled(home);
  const nobody = {HF_ENDPOINT: 'http://127.0.0.1:9', HF_HUB_OFFLINE: '1'};
  const ask = (model) => arrcoc(['ask', '--json', '--model', model, picturePath('receipt.jpg'), 'What is the total?'], home, nobody);
  const [byName, byFolder] = [await ask('acme/tiny'), await ask(root + 'models/tiny')];
  assert.equal(byName.code, 0, byName.err);
  assert.equal(JSON.parse(byName.out).answer, JSON.parse(byFolder.out).answer);
  const env = {HF_HOME: home, HF_ENDPOINT: 'http://127.0.0.1:9'};
  Object.assign(process.env, env);
  const server = await serve(binary, '--offline', '--model', 'acme/tiny');
  Object.keys(env).forEach((name) => delete process.env[name]);
  try {
    const {data} = await (await fetch(server.url + '/v1/models')).json();
    assert.equal(data.length, 1);
  } finally {
    assert.equal(await server.stop(), 0);
  }
  const sizes = execFileSync('du', ['-s', '--apparent-size', '-B1', home], {encoding: 'utf8'});
  assert.ok(parseInt(sizes) < 1.1 * 19.9e6);
};

tests['pulls what is asked for by name, and checks it against goldens'] = async () => {
  const home = freshHome();
  const early = await arrcoc(['models', 'check', 'acme/qwen3'], home);
  assert.equal(early.code, 1);
  assert.match(early.err, /arrcoc models pull acme\/qwen3/);
  assert.equal(hub.log.length, 0);
  await pulled(home, {}, 'acme/qwen3');
  const check = await arrcoc(['models', 'check', 'acme/qwen3', '--golden', goldens + '/golden.safetensors'], home);
  assert.equal(check.code, 0, check.out + check.err);
  assert.match(check.out, /ok {4}logits/);
  const ask = await arrcoc(['ask', '--model', 'acme/tiny', picturePath('receipt.jpg'), 'What is the total?'], home);
  assert.equal(ask.code, 0, ask.err);
  const own = fs.mkdtempSync(work + '/own-');
  const list = await arrcoc(['models', 'list', '--json'], home, {ARRCOC_MODELS: own});
  assert.deepEqual(JSON.parse(list.out).map((one) => [one.name, one.loadable]), [['acme/qwen3', true], ['acme/tiny', true]]);
  const info = await arrcoc(['models', 'info', 'acme/qwen3', '--json'], home);
  assert.equal(JSON.parse(info.out).family, 'qwen3_vl');
};

tests['finds what a script laid down, by branch, tag and commit'] = async () => {
  const home = freshHome(), at = `${home}/hub/models--acme--laid`;
  fs.mkdirSync(`${at}/blobs`, {recursive: true});
  fs.mkdirSync(`${at}/refs/refs/pr`, {recursive: true});
  fs.mkdirSync(`${at}/snapshots/${older}`, {recursive: true});
  for (const [name, one] of Object.entries(folderOf(goldens))) {
    fs.writeFileSync(`${at}/blobs/${one.etag}`, one.bytes);
    fs.symlinkSync(`../../blobs/${one.etag}`, `${at}/snapshots/${older}/${name}`);
  }
  for (const ref of ['main', 'v2', 'refs/pr/1']) fs.writeFileSync(`${at}/refs/${ref}`, older);
  for (const name of ['acme/laid', 'acme/laid@v2', 'acme/laid@refs/pr/1', 'acme/laid@' + older])
    assert.equal((await arrcoc(['models', 'pull', '--offline', name], home)).out, `${at}/snapshots/${older}\n`);
  assert.equal((await arrcoc(['models', 'check', 'acme/laid'], home)).code, 0);
  fs.rmSync(`${at}/snapshots/${older}/model.safetensors`);
  const lacking = await arrcoc(['models', 'pull', '--offline', 'acme/laid'], home);
  assert.equal(lacking.code, 1);
  assert.match(lacking.err, /model\.safetensors missing.*--offline/);
  assert.equal(hub.log.length, 0);
};

tests['a folder of that name wins'] = async () => {
  const home = freshHome();
  fs.mkdirSync(`${work}/here/acme`, {recursive: true});
  fs.cpSync(goldens, `${work}/here/acme/tiny`, {recursive: true});
  const info = await arrcoc(['models', 'info', 'acme/tiny', '--json'], home, {cwd: work + '/here'});
  assert.equal(JSON.parse(info.out).family, 'qwen3_vl');
};

tests['cut connections go on where they were'] = async () => {
  const home = freshHome();
  hub.fault = cdnFault((count) => count < 3 ? {cut: 1_000_000} : undefined);
  await pulled(home);
  whole(home);
  const ranges = gets('cdn').filter((one) => one.headers.range);
  assert.equal(ranges.length, 9);
  for (const one of ranges) assert.match(one.headers['if-range'], /^"cdn-/);
};

tests['another copy than the one begun is fetched whole'] = async () => {
  const home = freshHome();
  hub.fault = cdnFault((count) => count === 0 ? {cut: 1_000_000} : {etag: 'other'});
  await pulled(home);
  whole(home);
};

tests['a server that ignores ranges is heard from the beginning'] = async () => {
  const home = freshHome();
  hub.fault = cdnFault((count) => count === 0 ? {cut: 1_000_000} : {ignoreRange: true});
  await pulled(home);
  whole(home);
};

tests['wrong sums are refused, and leave nothing'] = async () => {
  for (const where of ['cdn', 'hub']) {
    const home = freshHome();
    hub.fault = (one) => one.where === where ? {corrupt: true} : undefined;
    await refused(home, /its sum is [0-9a-f]+, the hub says [0-9a-f]+/);
    assert.ok(!fs.existsSync(`${repo(home)}/snapshots/${commit}/model.safetensors`));
    for (const name of fs.readdirSync(repo(home) + '/blobs')) assert.ok(!name.includes('.'), name);
    hub.fault = () => undefined;
    await pulled(home);
    whole(home);
  }
};

tests['a beginning that does not fit is thrown away'] = async () => {
  const home = freshHome();
  fs.mkdirSync(repo(home) + '/blobs', {recursive: true});
  fs.writeFileSync(`${repo(home)}/blobs/${hub.models['acme/tiny'].files[shard].etag}.incomplete`, Buffer.alloc(5000));
  const said = await pulled(home);
  assert.match(said.err, /does not fit, fetching it anew/);
  whole(home);
};

tests['files that are longer or shorter than listed are refused'] = async () => {
  for (const resize of [40, -40]) {
    const home = freshHome();
    hub.fault = cdnFault(() => ({resize}));
    await refused(home, /not the \d+ bytes that it lists/);
  }
};

tests['says what to do about models that are closed'] = async () => {
  const closed = [
    [403, {'X-Error-Code': 'GatedRepo'}, /acme\/tiny is gated: ask for access on http\S+acme\/tiny, then set HF_TOKEN/],
    [401, {'X-Error-Message': 'Invalid credentials in Authorization header'}, /does not accept the token: set HF_TOKEN/],
    [403, {'X-Error-Message': 'not for you'}, /refuses acme\/tiny: not for you/],
  ];
  for (const [status, headers, words] of closed) {
    const home = freshHome();
    hub.fault = ({where}) => where === 'api' ? {status, headers} : undefined;
    await refused(home, words);
  }
  const home = freshHome();
  hub.fault = ({path}) => path.includes('/resolve/') ? {status: 403, headers: {'X-Error-Code': 'GatedRepo'}} : undefined;
  await refused(home, /is gated/);
};

tests['says what is spelt nearly so'] = async () => {
  const home = freshHome();
  await refused(home, /no model acme\/tinny on .*did you mean acme\/tiny\?/, {}, 'acme/tinny');
  await refused(home, /no model acmee\/tiny on .*did you mean acme\/tiny\?/, {}, 'acmee/tiny');
  await refused(home, /has no revision 'v1\.1'; did you mean v1\.0\?/, {}, 'acme/tiny@v1.1');
  for (const name of ['tiny', '../acme/tiny', 'acme/ti--ny', 'acme/tiny@../x', '/acme/tiny', 'acme/tiny@'])
    await refused(home, /is no OWNER\/NAME\[@REVISION\]/, {}, name);
  hub.models['acme/gguf'] = {commit, files: {'config.json': file('{}'), 'model.gguf': file('x')}};
  await refused(home, /has no model\.safetensors: only/, {}, 'acme/gguf');
  delete hub.models['acme/gguf'];
};

tests['waits as long as it is told, but not for ever'] = async () => {
  const home = freshHome();
  hub.fault = ({count}) => count === 0 ? {status: 429, headers: {'Retry-After': '0'}} : undefined;
  await pulled(home);
  whole(home);
  hub.fault = () => ({status: 429, headers: {'Retry-After': '7200'}});
  await refused(nextHome(), /too many requests: try again in 7200 s/);
  hub.fault = ({count}) => count < 2 ? {status: 503} : undefined;
  await pulled(nextHome());
};

tests['goes on after kill -9'] = async () => {
  const home = freshHome();
  hub.fault = cdnFault(() => ({first: 2_000_000, until: new Promise(() => {})}));
  const first = start(['models', 'pull', 'acme/tiny'], home);
  const partial = `${repo(home)}/blobs/${hub.models['acme/tiny'].files[shard].etag}.incomplete`;
  while (first.child.exitCode === null && !(fs.existsSync(partial) && fs.statSync(partial).size >= 1_000_000)) await new Promise((resolve) => setTimeout(resolve, 5));
  first.child.kill('SIGKILL');
  assert.equal((await first.ended).code, 'SIGKILL');
  const size = fs.statSync(partial).size;
  assert.ok(!fs.existsSync(repo(home) + '/refs/main'));
  assert.equal((await arrcoc(['models', 'info', 'acme/tiny'], home)).code, 1);
  hub.fault = () => undefined;
  hub.log.length = 0;
  await pulled(home);
  whole(home);
  assert.equal(gets('cdn')[0].headers.range, `bytes=${size}-`);
};

tests['two processes fetch every file once'] = async () => {
  const home = freshHome();
  let release;
  const until = new Promise((resolve) => release = resolve);
  hub.fault = cdnFault(() => ({until}));
  const both = [1, 2].map(() => start(['models', 'pull', 'acme/tiny'], home));
  const waits = () => /another process fetches it, waiting/.test(both[0].err + both[1].err);
  while (!waits() && both.every((said) => said.child.exitCode === null)) await new Promise((resolve) => setTimeout(resolve, 5));
  release();
  for (const said of await Promise.all(both.map((one) => one.ended))) assert.equal(said.code, 0, said.err);
  assert.equal(gets('cdn').length, 3);
  assert.ok(waits());
  whole(home);
};

tests['names of files that lead elsewhere are refused'] = async () => {
  for (const name of ['../x', '/tmp/x', 'a/../../x', '..\\x', 'C:\\x', '']) {
    const home = freshHome();
    hub.models['acme/tiny'].files[name] = file('x');
    await refused(home, /leads out of the model's folder: refused/);
    assert.ok(!fs.existsSync(home + '/hub/models--acme--tiny/blobs'));
  }
  for (const name of ['../x.safetensors', 'a/b.safetensors', 'x.bin', 7]) {
    const home = freshHome();
    hub.models['acme/tiny'].files['model.safetensors.index.json'] = file(JSON.stringify({weight_map: {a: name}}));
    await refused(home, /is no name of a safetensors file/);
  }
};

tests['replies that make no sense are one line'] = async () => {
  for (const body of ['', '[]', '{"sha": 7}', '<html>', `{"sha": "${commit}"}`, `{"sha": "../../x", "siblings": []}`, '['.repeat(99)]) {
    hub.fault = ({where}) => where === 'api' ? {body} : undefined;
    await refused(nextHome(), /the hub's reply about acme\/tiny/);
  }
  const home = freshHome();
  hub.models['acme/tiny'].files[shard].size = 2 ** 44;
  await refused(home, /needs \d+ MB more, and .* has room for \d+ MB/);
  hub.models['acme/tiny'].files['config.json'] = {...file('{}', true), size: 2 ** 40};
  await refused(nextHome(), /config.json has \d+ MB, 269 MB are allowed/);
  await refused(freshHome(), /cannot be reached .*--offline/, {HF_ENDPOINT: 'http://127.0.0.1:9'});
  await refused(freshHome(), /is no http\(s\):\/\/host/, {HF_ENDPOINT: 'ftp://x'});
  await refused(freshHome(), /holds no token/, {HF_TOKEN: 'two words'});
  fs.writeFileSync(work + '/file', '');
  await refused(work + '/file/home', /cannot make the folder/);
};

tests['redirects keep the token at home'] = async () => {
  const home = freshHome();
  hub.models['acme/old'] = hub.models['acme/tiny'];
  hub.fault = ({path}) => path.startsWith('/api/models/acme/old/') ? {status: 307, headers: {Location: path.replace('old', 'tiny')}} : undefined;
  await pulled(home, {}, 'acme/old');
  for (const one of hub.log) assert.equal(!!one.headers.authorization, one.where !== 'cdn');
  delete hub.models['acme/old'];
  const away = freshHome();
  hub.fault = ({where, path}) => where === 'api' ? {status: 302, headers: {Location: hub.cdn + '/away'}} :
    path === '/away' ? {status: 302, headers: {Location: hub.url + '/acme/tiny/resolve/main/config.json'}} : undefined;
  await refused(away, /the hub's reply about acme\/tiny/);
  assert.deepEqual(hub.log.map((one) => !!one.headers.authorization), [true, false, false], 'not even back at home');
  const round = freshHome();
  hub.fault = ({path}) => ({status: 302, headers: {Location: path}});
  await refused(round, /only leads from one address to another/);
};

tests['mirrors that list no sums are asked file by file'] = async () => {
  const home = freshHome();
  hub.fault = ({where, path}) => where === 'api' && path.includes('blobs=true') ?
    {body: JSON.stringify({sha: commit, siblings: Object.keys(hub.models['acme/tiny'].files).map((rfilename) => ({rfilename}))})} : undefined;
  await pulled(home);
  whole(home);
  assert.equal(hub.log.filter((one) => one.method === 'HEAD' && one.where === 'cdn').length, 0);
};

tests['takes the token from its file, and none where it is told so'] = async () => {
  const home = freshHome();
  fs.mkdirSync(home);
  fs.writeFileSync(home + '/token', 'hf_from_file\n');
  await pulled(home, {HF_TOKEN: ''});
  assert.equal(hub.log[0].headers.authorization, 'Bearer hf_from_file');
  await pulled(home, {HF_HUB_DISABLE_IMPLICIT_TOKEN: '1'});
  assert.equal(hub.log.at(-1).headers.authorization, undefined);
};

tests['shows rate and time left on terminals'] = async () => {
  const home = freshHome();
  hub.fault = cdnFault(() => ({drip: 400_000}));
  const env = {...process.env, HF_HOME: home, HF_ENDPOINT: hub.url};
  const child = spawn('script', ['-qec', `${binary} models pull acme/tiny`, '/dev/null'], {env, stdio: ['ignore', 'pipe', 'inherit']});
  let seen = '';
  child.stdout.on('data', (data) => seen += data);
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, seen);
  assert.match(seen, /\racme\/tiny, MB \d+\/19  [\d.]+\/s  \d+ s left|\u001b\[Kacme\/tiny, MB \d+\/19  [\d.]+\/s  \d+ s left/);
};

tests['encrypted hubs must be who they say, and stay encrypted'] = async () => {
  const home = freshHome(), {key, cert} = certificate();
  const sealed = await startHub({'acme/tiny': tiny()}, (handler) => createHttps({key: fs.readFileSync(key), cert: fs.readFileSync(cert)}, handler));
  try {
    await refused(home, /cannot be reached \(SSL/, {HF_ENDPOINT: sealed.url});
    assert.equal(sealed.log.length, 0);
    await refused(home, /leads to http:\S+, which is not encrypted/, {HF_ENDPOINT: sealed.url, SSL_CERT_FILE: cert});
    assert.equal(sealed.log[0].headers.authorization, 'Bearer hf_secret');
  } finally {
    sealed.stop();
  }
};

tests['goes through the proxy of the environment, except where it is told not to'] = async () => {
  const asked = [];
  const proxy = createServer((request, response) => {  // plain addresses: the whole of them in the request line
    asked.push([request.url, request.headers['proxy-authorization']]);
    if (!request.headers['proxy-authorization']) return response.writeHead(407).end();
    const {hostname, port, pathname, search} = new URL(request.url);
    const {'proxy-authorization': _, ...headers} = request.headers;
    request.pipe(httpRequest({hostname, port, path: pathname + search, method: request.method, headers}, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    }));
  });
  proxy.on('connect', (request, socket) => {  // encrypted ones: a tunnel
    asked.push([request.url, request.headers['proxy-authorization']]);
    const [host, port] = request.url.split(':');
    const tunnel = connect(port, host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      tunnel.pipe(socket).pipe(tunnel);
    });
    for (const end of [tunnel, socket]) end.on('error', () => [tunnel, socket].forEach((one) => one.destroy()));
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${proxy.address().port}`, basic = 'Basic ' + Buffer.from('eve:p@ss').toString('base64');
  const {key, cert} = certificate();
  const sealed = await startHub({'acme/tiny': tiny()}, (handler) => createHttps({key: fs.readFileSync(key), cert: fs.readFileSync(cert)}, handler));
  try {
    const home = freshHome();
    await pulled(home, {HTTP_PROXY: `http://eve:p%40ss@${address}`});
    whole(home);
    assert.equal(asked.length, hub.log.length);
    for (const [url, who] of asked) assert.ok((url.startsWith(hub.url) || url.startsWith(hub.cdn)) && who === basic, url);
    asked.length = 0;
    await refused(freshHome(), /the proxy wants a user and a password/, {HTTP_PROXY: address});
    await refused(freshHome(), /socks5 is not spoken/, {ALL_PROXY: 'socks5://eve:secret@x'});
    asked.length = 0;
    await pulled(freshHome(), {HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'localhost,127.0.0.1'});
    await refused(freshHome(), /which is not encrypted/, {HF_ENDPOINT: sealed.url, SSL_CERT_FILE: cert, HTTPS_PROXY: `eve:p%40ss@${address}`});
    assert.ok(asked.length > 0 && asked.every(([url, who]) => url === sealed.url.slice('https://'.length) && who === basic));
    assert.ok(sealed.log.every((one) => !one.headers['proxy-authorization']), 'the hub does not learn the password');
  } finally {
    sealed.stop();
    proxy.closeAllConnections();
    proxy.close();
  }
};

tests['the lines of docs/models.md do what they say'] = async () => {
  const home = freshHome();
  for (const name of ['Qwen/Qwen3-VL-2B-Instruct', 'my-team/invoices']) hub.models[name] = {...tiny(), revisions: {'v1.0': commit}};
  const section = fs.readFileSync(root + 'docs/models.md', 'utf8').split('## By name')[1].split('\n## ')[0];
  const lines = section.split('```')[1].trim().split('\n').map((line) => line.split('  #')[0].trim());
  assert.ok(lines.length >= 4);
  fs.copyFileSync(picturePath('receipt.jpg'), work + '/receipt.jpg');
  for (const line of lines) {
    const env = {PATH: binary.replace(/\/[^/]*$/, '') + ':' + process.env.PATH, HOME: work, HF_HOME: home, HF_ENDPOINT: hub.url};
    await promisify(execFile)('sh', ['-ec', line], {env, cwd: work});  // the hub is in this process
  }
};

const only = process.argv[3];  // a part of a name
try {
  await run(Object.fromEntries(Object.entries(tests).filter(([name]) => !only || name.includes(only))));
} finally {
  hub.stop();
  fs.rmSync(work, {recursive: true});
}
