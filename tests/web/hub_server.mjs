// A hub of Hugging Face's layout for tests. Small files come from the hub itself with git's sums, weights by a
// redirect from a second server, as from its CDN, whose ETags are no sums.
import {createHash} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';

const hash = (kind, ...parts) => parts.reduce((sum, part) => sum.update(part), createHash(kind)).digest('hex');

export function file(bytes, lfs) {
  bytes = Buffer.from(bytes);
  return {bytes, lfs, etag: lfs ? hash('sha256', bytes) : hash('sha1', `blob ${bytes.length}\0`, bytes)};
}

export function folderOf(path, extra = {}) {
  const files = {};
  for (const name of readdirSync(path)) files[name] = file(readFileSync(`${path}/${name}`), name.endsWith('.safetensors'));
  for (const [name, text] of Object.entries(extra)) files[name] = file(text, false);
  return files;
}

// Bytes with ranges; the fault says what goes wrong.
async function send(request, response, bytes, etag, fault, headers = {}) {
  let from = 0, status = 200;
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const same = !request.headers['if-range'] || request.headers['if-range'] === `"${etag}"`;
  if (range && same && !fault.ignoreRange) [from, status] = [Number(range[1]), 206];
  if (from >= bytes.length && status === 206) return response.writeHead(416).end();
  const to = status === 206 && range[2] ? Number(range[2]) + 1 : bytes.length;
  let body = bytes.subarray(from, to);
  if (status === 206) headers['Content-Range'] = `bytes ${from}-${to - 1}/${bytes.length}`;
  if (fault.corrupt) body = Buffer.concat([body.subarray(0, -1), Buffer.from([body.at(-1) ^ 1])]);
  if (fault.resize) body = Buffer.concat([body, Buffer.alloc(64)]).subarray(0, body.length + fault.resize);
  response.writeHead(status, {ETag: `"${etag}"`, 'Content-Length': body.length, ...headers});
  if (request.method === 'HEAD') return response.end();
  if (fault.cut) return response.write(body.subarray(0, fault.cut), () => request.socket.destroy());
  if (fault.until) {  // the first bytes, and the rest when that promise is kept
    const first = fault.first ?? 1;
    response.write(body.subarray(0, first));
    await fault.until;
    return response.end(body.subarray(first));
  }
  if (fault.drip) {
    for (let at = 0; at < body.length && !response.destroyed; at += fault.drip) {
      response.write(body.subarray(at, at + fault.drip));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return response.end();
  }
  response.end(body);
}

// models: 'OWNER/NAME' -> {files, commit, revisions}. fault({where, path, count}) may name what goes wrong there:
// where is 'api', 'hub' or 'cdn', count how many such requests for that path there were before.
export async function startHub(models, server = createServer) {
  const hub = {models, log: [], fault: () => undefined};
  const heard = (where, request) => {
    const path = decodeURIComponent(request.url);
    const count = hub.log.filter((one) => one.where === where && one.path === path && one.method === request.method).length;
    hub.log.push({where, path, method: request.method, headers: request.headers});
    const fault = hub.fault({where, path, count}) ?? {};
    return {path, fault};
  };
  const refused = (response, fault) => {
    if (fault.status) response.writeHead(fault.status, fault.headers).end('refused');
    return fault.status;
  };
  const listen = (handler, kind) => new Promise((resolve) => {
    const listening = kind(handler);
    listening.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const cdn = await listen((request, response) => {
    const {path, fault} = heard('cdn', request);
    if (refused(response, fault)) return;
    const etag = /^\/blob\/(\w+)/.exec(path)?.[1];
    const found = Object.values(hub.models).flatMap((model) => Object.values(model.files)).find((one) => one.etag === etag);
    if (!found) return response.writeHead(404).end();
    send(request, response, found.bytes, fault.etag ?? 'cdn-' + etag.slice(0, 8), fault);
  }, createServer);
  hub.cdn = `http://127.0.0.1:${cdn.address().port}`;
  const entry = (name, one) => ({type: 'file', path: name, rfilename: name, size: one.bytes.length, oid: one.etag, blobId: one.etag,
    ...(one.lfs && {lfs: {sha256: one.etag, oid: one.etag, size: one.size ?? one.bytes.length, pointerSize: 134}})});
  const api = (request, response, path) => {
    const url = new URL(path, 'http://hub');
    const say = (value) => response.writeHead(200, {'Content-Type': 'application/json'}).end(JSON.stringify(value));
    if (url.pathname === '/api/models') {
      const [author, search] = ['author', 'search'].map((key) => url.searchParams.get(key));
      return say(Object.keys(hub.models).filter((id) => author ? id.startsWith(author + '/') : id.includes(search)).map((id) => ({id})));
    }
    const [, id, what, revision = 'main'] = /^\/api\/models\/([^/]+\/[^/]+)(?:\/([^/]+)(?:\/(.+))?)?$/.exec(url.pathname) ?? [];
    const model = hub.models[id];
    if (!model) return response.writeHead(401, {'X-Error-Message': 'Invalid username or password.'}).end();
    if (what === 'refs') return say({branches: [{name: 'main'}], tags: Object.keys(model.revisions ?? {}).map((name) => ({name}))});
    const commit = revision === 'main' ? model.commit : model.revisions?.[revision] ?? (revision === model.commit && revision);
    if (!commit) return response.writeHead(404, {'X-Error-Code': 'RevisionNotFound'}).end();
    const entries = Object.entries(model.files).map(([name, one]) => entry(name, one));
    if (what === 'tree') return say(entries);
    if (what === 'paths-info') {
      let body = '';
      return request.on('data', (data) => body += data).on('end', () => say(entries.filter((one) => JSON.parse(body).paths.includes(one.path))));
    }
    say({id, sha: commit, siblings: url.searchParams.get('blobs') ? entries : entries.map(({rfilename}) => ({rfilename}))});
  };
  const main = await listen((request, response) => {
    const {path, fault} = heard(request.url.startsWith('/api/') ? 'api' : 'hub', request);
    if (refused(response, fault)) return;
    if (fault.body !== undefined) return response.end(fault.body);
    if (path.startsWith('/api/')) return api(request, response, path);
    const [, id, , name] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path) ?? [];
    const model = hub.models[id], one = model?.files[name];
    if (!one) return response.writeHead(404, {'X-Error-Code': model ? 'EntryNotFound' : 'RepoNotFound'}).end();
    const headers = {'X-Repo-Commit': model.commit};
    if (!one.lfs) return send(request, response, one.bytes, one.etag, fault, headers);
    response.writeHead(302, {...headers, 'X-Linked-Etag': `"${one.etag}"`, 'X-Linked-Size': one.bytes.length,
      Location: `${hub.cdn}/blob/${one.etag}?signature=1`}).end();
  }, server);
  hub.url = `${server === createServer ? 'http' : 'https'}://127.0.0.1:${main.address().port}`;
  hub.stop = () => [main, cdn].forEach((one) => (one.close(), one.closeAllConnections()));
  return hub;
}
