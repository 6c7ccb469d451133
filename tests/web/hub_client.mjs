// One cache for arrcoc and Hugging Face's own client: node hub_client.mjs PATH_OF_ARRCOC
import {downloadFileToCacheDir, scanCacheDir, snapshotDownload} from '@huggingface/hub';
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import * as fs from 'node:fs';
import {tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {folderOf, startHub} from './hub_server.mjs';
import {run} from './server.mjs';

const work = fs.mkdtempSync(tmpdir() + '/arrcoc_hub_');
const goldens = fileURLToPath(new URL('../data/goldens/qwen3_vl', import.meta.url));
const commit = 'c0ffee'.padEnd(40, '0');
// golden.safetensors and golden.json are not for us.
const hub = await startHub({'acme/qwen3': {commit, files: folderOf(goldens)}});
console.debug = () => {};  // of the client

const execute = promisify(execFile);
async function arrcoc(home, ...args) {
  const env = {PATH: process.env.PATH, HOME: work, HF_HOME: home, HF_ENDPOINT: hub.url};
  return (await execute(process.argv[2], args, {env})).stdout;
}
const theirs = (home) => ({repo: 'acme/qwen3', hubUrl: hub.url, cacheDir: home + '/hub'});
const from = (mark) => hub.log.slice(mark).map((one) => one.where);

const tests = {
  'arrcoc loads what their client downloaded, and fetches nothing again': async () => {
    const home = work + '/theirs';
    const folder = await snapshotDownload(theirs(home));
    const mark = hub.log.length;
    assert.match(await arrcoc(home, 'models', 'check', 'acme/qwen3', '--golden', goldens + '/golden.safetensors'), /ok {4}logits/);
    assert.equal((await arrcoc(home, 'models', 'pull', '--offline', 'acme/qwen3')).trim(), folder);
    assert.deepEqual(from(mark), []);
    assert.equal((await arrcoc(home, 'models', 'pull', 'acme/qwen3')).trim(), folder);
    assert.deepEqual(from(mark), ['api']);
  },
  'their client finds what arrcoc pulled': async () => {
    const home = work + '/ours';
    const folder = (await arrcoc(home, 'models', 'pull', 'acme/qwen3')).trim();
    const {repos, warnings} = await scanCacheDir(home + '/hub');
    assert.deepEqual(warnings, []);
    assert.deepEqual(repos.map(({id}) => id), [{name: 'acme/qwen3', type: 'model'}]);
    const [revision] = repos[0].revisions;
    assert.deepEqual([revision.commitOid, revision.refs, revision.path], [commit, ['main'], folder]);
    assert.deepEqual(revision.files.map((one) => one.path.slice(folder.length + 1)).sort(), ['config.json', 'generation_config.json', 'model.safetensors']);
    const mark = hub.log.length;
    for (const path of ['config.json', 'model.safetensors'])
      assert.equal(await downloadFileToCacheDir({...theirs(home), path, revision: commit}), `${folder}/${path}`);
    assert.deepEqual(from(mark), []);
    await snapshotDownload(theirs(home));  // the rest of it
    assert.deepEqual(new Set(hub.log.slice(mark).filter((one) => one.where === 'hub').map((one) => one.path.split('/').at(-1))),
                     new Set(['golden.json', 'golden.safetensors']));
  },
};

try {
  await run(tests);
} finally {
  hub.stop();
  fs.rmSync(work, {recursive: true});
}
