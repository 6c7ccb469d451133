// The official packages of the Model Context Protocol as clients, over stdio and HTTP, of both eras:
// node mcp.mjs PATH_OF_ARRCOC
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {once} from 'node:events';
import * as older from '@modelcontextprotocol/sdk/client/index.js';
import * as olderHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as olderStdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as modern from '@modelcontextprotocol/client';
import * as modernStdio from '@modelcontextprotocol/client/stdio';
import {pictureBase64, picturePath, run, serve} from './server.mjs';

// Products that are shared out to other threads, as a server's are, round otherwise, and in 8 bits that may turn a step.
process.env.ARRCOC_KERNELS = 'reference';

const binary = process.argv[2];
const pictures = picturePath('');
const asked = [['receipt.jpg', 'What is the total?'], ['receipt.jpg', 'What is the date?'],
               ['chart.jpg', 'What is the highest value?'], ['street.jpg', 'What does the sign say?']];

const server = await serve(binary, '--api-key', 'sk-test', '--file-root', pictures);
const headers = {Authorization: 'Bearer sk-test'};
const url = new URL(server.url + '/mcp');
const stdio = {command: binary, args: ['mcp', '--root', pictures], stderr: 'ignore', env: {...process.env}};
const me = {name: 'test', version: '1'};
const ways = {
  'SDK 1, stdio': [() => new older.Client(me), () => new olderStdio.StdioClientTransport(stdio)],
  'SDK 1, HTTP': [() => new older.Client(me),
    () => new olderHttp.StreamableHTTPClientTransport(url, {requestInit: {headers}})],
  'SDK 2, stdio': [() => new modern.Client(me, {versionNegotiation: {mode: {pin: '2026-07-28'}}}),
    () => new modernStdio.StdioClientTransport(stdio)],
  'SDK 2, HTTP': [() => new modern.Client(me, {versionNegotiation: {mode: {pin: '2026-07-28'}}}),
    () => new modern.StreamableHTTPClientTransport(url, {requestInit: {headers}})],
  'SDK 2 chooses, stdio': [() => new modern.Client(me, {versionNegotiation: {mode: 'auto'}}),
    () => new modernStdio.StdioClientTransport(stdio)],
  'SDK 2 chooses, HTTP': [() => new modern.Client(me, {versionNegotiation: {mode: 'auto'}}),
    () => new modern.StreamableHTTPClientTransport(url, {requestInit: {headers}})],
};

const told = new Map();  // what `arrcoc ask --json` says
function ask(picture, question) {
  const key = picture + question;
  if (!told.has(key))
    told.set(key, JSON.parse(execFileSync(binary, ['ask', picturePath(picture), question, '--json'],
                                          {stdio: ['ignore', 'pipe', 'ignore']})));
  return told.get(key);
}

const call = (client, name, args, options) =>
  client.callTool({name, arguments: args}, ...(client instanceof older.Client ? [undefined, options] : [options]));
const images = (result) => result.content.filter((one) => one.type === 'image');
const size = (png) => {
  const bytes = Buffer.from(png.data, 'base64');
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};
async function failed(client, name, args, words) {
  const result = await call(client, name, args);
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.match(result.content[0].text, words);
}

// The SDKs hold structuredContent against outputSchema by themselves.
const checks = {
  async 'lists the tools'(client) {
    const {tools} = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ['look', 'zoom', 'read', 'count']);
    for (const tool of tools) {
      assert.equal(tool.annotations.readOnlyHint, true);
      assert.ok(tool.inputSchema.properties.path && tool.outputSchema.properties.image);
    }
    assert.equal(client.getServerVersion().name, 'arrcoc');
    assert.match(client.getInstructions(), /look/);
  },
  async 'reads as arrcoc ask does'(client) {
    for (const [picture, question] of asked) {
      const {structuredContent: found, content} = await call(client, 'read', {path: picture, question});
      const want = ask(picture, question);
      for (const key of ['answer', 'calibrated', 'unsure', 'box', 'tokens', 'native_tokens', 'image'])
        assert.deepEqual(found[key], want[key], `${picture} ${question} ${key}`);
      // Products of a batch round otherwise than those of one question.
      assert.ok(Math.abs(found.confidence - want.confidence) < 1e-3, `${picture} ${question} ${found.confidence} ${want.confidence}`);
      assert.deepEqual(JSON.parse(content[0].text), found);
    }
    const {structuredContent: found} = await call(client, 'read', {data: pictureBase64(), question: 'What is the total?', budget: '64'});
    assert.ok(found.tokens <= 64);
  },
  async 'looks'(client) {
    const args = {path: 'receipt.jpg', question: 'What is the total?'};
    const bare = await call(client, 'look', args);
    assert.equal(images(bare).length, 0);
    const mapped = await call(client, 'look', {...args, map: true});
    assert.equal(images(mapped).length, 1);
    assert.ok(Math.max(...size(images(mapped)[0])) <= 1024);
    const boxes = ask(args.path, args.question).pictures[0].boxes;
    assert.deepEqual(bare.structuredContent.boxes, boxes.map(({box, strength}) => ({box, relevance: strength})));
    assert.ok(boxes.length > 0);
  },
  async 'zooms by question and by box'(client) {
    const {structuredContent: found, ...rest} = await call(client, 'zoom', {path: 'receipt.jpg', question: 'What is the total?', crops: 2});
    assert.ok(found.crops.length >= 1 && found.crops.length <= 2);
    assert.equal(images(rest).length, found.crops.length);
    images(rest).forEach((png, i) => {
      const [x0, y0, x1, y1] = found.crops[i].box;
      assert.deepEqual(size(png), [x1 - x0, y1 - y0]);
    });
    const [x, y, right, bottom] = ask('receipt.jpg', 'What is the total?').box;
    assert.ok(found.crops.some(({box}) => box[0] < right && box[2] > x && box[1] < bottom && box[3] > y));
    const part = await call(client, 'zoom', {path: 'receipt.jpg', box: [10, 20, 110, 70]});
    assert.deepEqual(part.structuredContent.crops, [{box: [10, 20, 110, 70]}]);
    assert.deepEqual(size(images(part)[0]), [100, 50]);
  },
  async 'counts'(client) {
    const {structuredContent: found} = await call(client, 'count', {path: 'zoo.jpg', what: 'dogs'});
    const want = ask('zoo.jpg', 'How many dogs are there?');
    assert.equal(found.answer, want.answer);
    assert.equal(found.confidence, want.confidence);
    assert.equal(found.count, /^\d+$/.test(want.answer) ? Number(want.answer) : null);
  },
  async 'says what is wrong'(client) {
    const question = 'What is the total?';
    await failed(client, 'read', {question}, /'path' or as 'data'/);
    await failed(client, 'read', {path: 'receipt.jpg'}, /'question' is missing/);
    await failed(client, 'read', {path: 'receipt.jpg', question, colour: 'red'}, /colour/);
    await failed(client, 'read', {path: 'receipt.jpg', question, passes: 99}, /passes/);
    await failed(client, 'read', {path: 'receipt.jpg', question, budget: 'lavish'}, /lavish/);
    await failed(client, 'read', {data: 'no base64!', question}, /base64/);
    await failed(client, 'read', {data: Buffer.from('not a picture').toString('base64'), question}, /format|picture/);
    await failed(client, 'read', {data: 'https://example.com/x.png', question}, /base64/);
    await failed(client, 'zoom', {path: 'receipt.jpg'}, /'question' or 'box'/);
    await failed(client, 'zoom', {path: 'receipt.jpg', box: [0, 0, 1e9, 5]}, /inside/);
    await assert.rejects(call(client, 'sing', {}), /Unknown tool|sing/);
  },
  async 'reads no file outside its folder'(client) {
    for (const name of ['/etc/passwd', '../../README.md', '/proc/self/environ', 'file:///etc/passwd', '.', '', outside, link])
      await failed(client, 'read', {path: name, question: 'What?'}, /no such picture below|'path' or as 'data'/);
    const {structuredContent} = await call(client, 'read', {path: picturePath('receipt.jpg'), question: 'What is the total?'});
    assert.equal(structuredContent.answer, '33.10');
  },
  async 'reports progress'(client) {
    const heard = [];
    await call(client, 'read', {path: 'receipt.jpg', question: 'What is the date?'},
               {onprogress: (one) => heard.push(one)});
    assert.ok(heard.length >= 1);
    assert.deepEqual(heard.map((one) => one.progress), [...new Set(heard.map((one) => one.progress))].sort((a, b) => a - b));
  },
  async 'answers several calls at once, and gives one up'(client) {
    const giveUp = new AbortController();
    const calls = asked.map(([picture, question]) => call(client, 'read', {path: picture, question}));
    const dropped = call(client, 'read', {path: 'zoo.jpg', question: 'How many animals are there?', passes: 9}, {signal: giveUp.signal});
    giveUp.abort('enough');
    await assert.rejects(dropped);
    const answers = (await Promise.all(calls)).map((one) => one.structuredContent.answer);
    assert.deepEqual(answers, asked.map(([picture, question]) => ask(picture, question).answer));
  },
};

const folder = mkdtempSync(path.join(os.tmpdir(), 'mcp-'));
const outside = path.join(folder, 'picture.jpg');
writeFileSync(outside, Buffer.from(pictureBase64(), 'base64'));
const allowed = mkdtempSync(path.join(os.tmpdir(), 'mcp-'));
const link = path.join(allowed, 'link.jpg');
symlinkSync(outside, link);

// Without a client's help: what is on standard output, line by line.
async function raw(lines, ...args) {
  const child = spawn(binary, ['mcp', '--root', allowed, ...args], {stdio: ['pipe', 'pipe', 'ignore']});
  let said = '';
  child.stdout.on('data', (data) => said += data);
  child.stdin.end(lines.join('\n') + '\n');
  const [code] = await once(child, 'close');
  return {code, replies: said.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line))};
}

try {
  for (const [way, [newClient, newTransport]] of Object.entries(ways)) {
    const client = newClient();
    await client.connect(newTransport());
    const each = Object.entries(checks).map(([name, check]) => [`${way}: ${name}`, () => check(client)]);
    await run(Object.fromEntries(each));
    await client.close();
  }
  await run({
    async 'stdio: lives on after what is no message'() {
      const hello = {jsonrpc: '2.0', id: 1, method: 'initialize', params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: me}};
      const {code, replies} = await raw(['{', '[]', '', '['.repeat(100000), '"' + 'x'.repeat(3e6) + '"', JSON.stringify(hello),
        JSON.stringify({jsonrpc: '2.0', id: 2, method: 'tools/call', params: {name: 'read', arguments: {path: link, question: 'What?'}}})],
        '--max-body-mb', '2');
      assert.equal(code, 0);
      assert.deepEqual(replies.map((one) => one.error?.code), [-32700, -32600, -32700, -32600, undefined, undefined]);
      assert.equal(replies[4].result.protocolVersion, '2025-06-18');
      assert.match(replies[5].result.content[0].text, /no such picture/, 'a link that leads out');
    },
    async 'HTTP: GET is refused, pages of other sites and strangers too'() {
      assert.equal((await fetch(url, {headers})).status, 405);
      const post = (more) => fetch(url, {method: 'POST', body: '{', headers: {'Content-Type': 'application/json', ...more}});
      assert.equal((await post({})).status, 401);
      assert.equal((await post({...headers, Origin: 'https://evil.example'})).status, 403);
      const broken = await post(headers);
      assert.equal(broken.status, 400);
      assert.equal((await broken.json()).error.code, -32700);
    },
    async 'stdio: a flag that says nothing there is refused'() {
      for (const flag of [['--port', '1'], ['--host', '0.0.0.0'], ['--api-key', 'x']]) {
        const {status, stderr} = spawnSync(binary, ['mcp', ...flag], {encoding: 'utf8', input: ''});
        assert.equal(status, 1);
        assert.match(stderr, new RegExp(`${flag[0]} is for --http`));
      }
    },
    async 'mcp --http gives no files unless it is told which'() {
      const other = await serve(binary, {command: ['mcp', '--http']});
      const client = new modern.Client(me, {versionNegotiation: {mode: 'auto'}});
      await client.connect(new modern.StreamableHTTPClientTransport(new URL(other.url + '/mcp')));
      await failed(client, 'read', {path: path.relative('.', picturePath('receipt.jpg')), question: 'What?'}, /by path are off/);
      await client.close();
      assert.equal(await other.stop(), 0);
    },
    async 'mcp --http serves the same'() {
      const other = await serve(binary, {command: ['mcp', '--http', '--root', pictures]});
      const client = new modern.Client(me, {versionNegotiation: {mode: 'auto'}});
      await client.connect(new modern.StreamableHTTPClientTransport(new URL(other.url + '/mcp')));
      const {structuredContent} = await call(client, 'read', {path: 'receipt.jpg', question: 'What is the total?'});
      assert.equal(structuredContent.answer, '33.10');
      await client.close();
      assert.equal(await other.stop(), 0);
    },
  });
} finally {
  rmSync(folder, {recursive: true});
  rmSync(allowed, {recursive: true});
  assert.equal(await server.stop(), 0);
}
