// What clients that load a server send: three photographs, drawn pictures of many sizes, a few questions.
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import * as zlib from 'node:zlib';

const root = fileURLToPath(new URL('../', import.meta.url));

export function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crcOf(body), body.length + 4);
  return out;
}

function crcOf(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);  // Node 22
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; ++k) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// A grey PNG of these rows (each begins with its filter); more: chunks before the pixels.
export function greyPng(width, height, rows, more = []) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;  // grey, 8 bits
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), chunk('IHDR', head), ...more,
                        chunk('IDAT', zlib.deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

export const pngUrl = (png) => 'data:image/png;base64,' + png.toString('base64');

// Stripes and blocks that look like print from afar.
function drawn(width, height, seed) {
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const line = (y % 24) < 12 && ((x >> 2) * 2654435761 ^ (y / 24 | 0) * 40503 * seed) & 64;
      rows[y * (width + 1) + 1 + x] = line ? 30 : 220 + ((x * seed + y) & 15);
    }
  }
  return pngUrl(greyPng(width, height, rows));
}

export const pictures = ['receipt.jpg', 'chart.jpg', 'street.jpg'].map(
    (name) => 'data:image/jpeg;base64,' + readFileSync(root + 'examples/pictures/' + name).toString('base64'));
export const photographs = pictures.length;
for (let i = 1; i <= 9; ++i) pictures.push(drawn(90 * i, 1000 - 95 * i, i));
export const questions = ['What is the total?', 'What is the date?', 'What is the name?', 'Which one is the largest?'];
