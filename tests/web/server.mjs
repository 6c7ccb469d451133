// Starts `arrcoc serve` on a free port and stops it again.
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export function pictureBase64(name = 'receipt.jpg') {
  return readFileSync(picturePath(name)).toString('base64');
}

export function pictureUrl(name = 'receipt.jpg') {
  return 'data:image/jpeg;base64,' + pictureBase64(name);
}

export function picturePath(name) {
  return root + 'examples/pictures/' + name;
}

// flags: of `arrcoc serve`, or first {command} for another command that serves.
export async function serve(binary, ...flags) {
  const command = flags[0]?.command ? flags.shift().command : ['serve'];
  const port = flags.includes('--port') ? [] : ['--port', '0'];
  const child = spawn(binary, [...command, ...port, '--tiny', root + 'models/tiny', ...flags],
                      {stdio: ['ignore', 'pipe', 'ignore']});
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = said.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    child.on('exit', () => reject(new Error('the server did not start: ' + said)));
  });
  return {
    url,
    // Resident megabytes.
    memory: () => Number(readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

// Runs named checks one after the other; the first that fails ends the program with its name.
export async function run(checks) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log('ok   ' + name);
    } catch (problem) {
      console.log('FAIL ' + name);
      throw problem;
    }
  }
}
