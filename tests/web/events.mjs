// The page's reader of event streams, fed with every split of the bytes: node events.mjs
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {run} from './server.mjs';

// As a module, whatever Node takes a .js file for.
const source = readFileSync(new URL('../../web/page_events.js', import.meta.url), 'utf8');
const page = await import('data:text/javascript,' + encodeURIComponent(source));

// What comes out of the bytes in these pieces.
function heard(pieces) {
  const out = [];
  const decoder = new TextDecoder();
  const feed = page.eventReader((data) => out.push(data));
  for (const piece of pieces) feed(decoder.decode(piece, {stream: true}));
  return out;
}

// Every way of cutting the bytes in three, and one byte at a time.
function everySplit(text, expected) {
  const bytes = new TextEncoder().encode(text);
  for (let i = 0; i <= bytes.length; ++i)
    for (let j = i; j <= bytes.length; ++j)
      assert.deepEqual(heard([bytes.slice(0, i), bytes.slice(i, j), bytes.slice(j)]), expected);
  assert.deepEqual(heard([...bytes].map((byte) => Uint8Array.of(byte))), expected);
}

const events = [': keep-alive', '', 'event: x', 'id: 7', 'data: {"a":"€ 5"}', '', ':', 'retry: 3', 'data:two', 'data:  lines', 'data', '',
  '', 'nothing: else', '', 'database: no', '', 'data: [DONE]', '', 'data: never ended'];
const expected = ['{"a":"€ 5"}', 'two\n lines\n', '[DONE]'];

await run({
  'LF'() { everySplit(events.join('\n'), expected); },
  'CRLF'() { everySplit(events.join('\r\n'), expected); },
  'CR'() { everySplit(events.join('\r'), expected); },
  'LF and CRLF in turn'() { everySplit(events.map((line, i) => line + (i % 2 ? '\n' : '\r\n')).join(''), expected); },
});
