// Files that need no codec to be written: films of JPEG pictures as AVI (MJPEG), pictures as TIFF.
function chunk(name, body) {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat(body.length % 2 ? [head, body, Buffer.alloc(1)] : [head, body]);
}

function list(kind, ...parts) {
  return chunk('LIST', Buffer.concat([Buffer.from(kind, 'latin1'), ...parts]));
}

// Numbers of four bytes; strings are four letters.
function words(...values) {
  const out = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => (typeof value === 'string' ? out.write(value, 4 * i, 'latin1') : out.writeUInt32LE(value, 4 * i)));
  return out;
}

// frames: Buffers of JPEG bytes.
export function avi(frames, width, height, fps = 25) {
  const most = Math.max(...frames.map((frame) => frame.length));
  const indexed = 0x10;
  const main = chunk('avih', words(Math.round(1e6 / fps), most * fps, 0, indexed, frames.length, 0, 1, most, width, height, 0, 0, 0, 0));
  const stream = chunk('strh', words('vids', 'MJPG', 0, 0, 0, 1, fps, 0, frames.length, most, 0xffffffff, 0, 0, width | height << 16));
  const format = chunk('strf', words(40, width, height, 1 | 24 << 16, 'MJPG', width * height * 3, 0, 0, 0, 0));
  const index = [];
  let at = 4;
  for (const frame of frames) {
    index.push(words('00dc', indexed, at, frame.length));
    at += 8 + frame.length + frame.length % 2;
  }
  return chunk('RIFF', Buffer.concat([Buffer.from('AVI '), list('hdrl', main, list('strl', stream, format)),
                                      list('movi', ...frames.map((frame) => chunk('00dc', frame))), chunk('idx1', Buffer.concat(index))]));
}

// rgba: four bytes a pixel.
export function tiff(rgba, width, height) {
  const rgb = Buffer.alloc(3 * width * height);
  for (let i = 0; i < width * height; ++i) rgba.copy(rgb, 3 * i, 4 * i, 4 * i + 3);
  const [short, long] = [3, 4];
  const tags = [[256, long, width], [257, long, height], [258, short, 8], [259, short, 1], [262, short, 2], [273, long, 0], [277, short, 3],
                [278, long, height], [279, long, rgb.length]];
  const bits = 10 + 12 * tags.length + 4;  // three times 8, after the tags
  const head = Buffer.alloc(bits + 6);
  head.write('II*\0', 0, 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(tags.length, 8);
  tags.forEach(([tag, type, value], i) => {
    const at = 10 + 12 * i;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(tag === 258 ? 3 : 1, at + 4);
    head.writeUInt32LE(tag === 258 ? bits : tag === 273 ? head.length : value, at + 8);
  });
  for (let i = 0; i < 3; ++i) head.writeUInt16LE(8, bits + 2 * i);
  return Buffer.concat([head, rgb]);
}
