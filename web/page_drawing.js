// Maps, quadtrees and tokens on canvases. shown: what was said of one picture, {leaves, crops, map, canvas,
// tokens, native}; null before anybody asked.
const LEVELS = ['#d32f2f', '#f57c00', '#fbc02d', '#388e3c', '#1976d2', '#5e35b1', '#455a64'];

function fit(canvas, image) {
  const {naturalWidth: w, naturalHeight: h} = image;
  const scale = Math.min(1, 1024 / Math.max(w, h));
  canvas.width = Math.max(1, Math.round(w * scale));
  canvas.height = Math.max(1, Math.round(h * scale));
}

// What was cut, as rectangles in shares of the picture, the coarsest first.
function parts(shown) {
  const {width, height} = shown.canvas;
  const squares = shown.leaves.map(({x, y, size, level}) =>
    ({x: x / width, y: y / height, w: size / width, h: size / height, level, across: 16, down: 16}));
  const views = shown.crops.map(({box: [x0, y0, x1, y1], width: across, height: down}, i) =>
    ({x: x0 / width, y: y0 / height, w: (x1 - x0) / width, h: (y1 - y0) / height, level: i, across, down}));
  return [...squares, ...views].sort((a, b) => b.w * b.h - a.w * a.h);
}

function drawHeat(context, map, width, height) {
  const small = document.createElement('canvas');
  small.width = map.cols;
  small.height = map.rows;
  const pixels = small.getContext('2d').createImageData(map.cols, map.rows);
  const top = Math.max(1e-6, ...map.values);
  map.values.forEach((value, i) => {
    const v = value / top;
    pixels.data.set([255, Math.round(200 * (1 - v)), 0, Math.round(190 * v)], 4 * i);
  });
  small.getContext('2d').putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, width, height);
}

export function drawStage(canvas, image, shown, {heat, tree}) {
  const context = canvas.getContext('2d');
  fit(canvas, image);
  const {width, height} = canvas;
  context.drawImage(image, 0, 0, width, height);
  if (heat && shown?.map) {
    context.fillStyle = 'rgba(0, 0, 0, 0.25)';
    context.fillRect(0, 0, width, height);
    drawHeat(context, shown.map, width, height);
  }
  if (!tree || !shown) return;
  context.lineWidth = 1;
  for (const {x, y, w, h, level} of parts(shown)) {
    context.strokeStyle = LEVELS[Math.min(Math.max(level, 0), LEVELS.length - 1)];
    context.strokeRect(x * width + 0.5, y * height + 0.5, w * width - 1, h * height - 1);
  }
}

// Every part shrunk to the pixels that the model gets of it, and shown at its place.
function drawTokens(canvas, image, shown) {
  const context = canvas.getContext('2d');
  fit(canvas, image);
  const {naturalWidth: w, naturalHeight: h} = image;
  const patch = document.createElement('canvas');
  const p = patch.getContext('2d');
  for (const part of parts(shown)) {
    patch.width = Math.max(1, Math.round(part.across));
    patch.height = Math.max(1, Math.round(part.down));
    p.drawImage(image, part.x * w, part.y * h, part.w * w, part.h * h, 0, 0, patch.width, patch.height);
    context.drawImage(patch, part.x * canvas.width, part.y * canvas.height, part.w * canvas.width, part.h * canvas.height);
  }
}

// The whole picture shrunk until it costs as many 16 x 16 tokens.
function drawResize(canvas, image, tokens) {
  const context = canvas.getContext('2d');
  fit(canvas, image);
  const {naturalWidth: w, naturalHeight: h} = image;
  const scale = Math.min(1, 16 * Math.sqrt(tokens / (w * h)));
  const small = document.createElement('canvas');
  small.width = Math.max(1, Math.floor(w * scale));
  small.height = Math.max(1, Math.floor(h * scale));
  small.getContext('2d').drawImage(image, 0, 0, small.width, small.height);
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
}

// how: seen, resize, native or area.
export function drawSeen(canvas, image, shown, how) {
  if (how === 'seen') return drawTokens(canvas, image, shown);
  if (how === 'resize') return drawResize(canvas, image, shown.tokens);
  return drawStage(canvas, how === 'area' && shown.area ? shown.area : image, null, {});
}

export function drawNothing(canvas) {
  canvas.width = 320;
  canvas.height = 200;
}

// Where the map is highest, in words.
function highest({rows, cols, values}) {
  const top = values.indexOf(Math.max(...values));
  const third = (at, size, words) => words[Math.floor(3 * (at + 0.5) / size)];
  const row = third(Math.floor(top / cols), rows, ['top', 'middle', 'bottom']);
  const col = third(top % cols, cols, ['left', 'centre', 'right']);
  return `${row} ${col}`;
}

export function describeStage(name, image, shown, {heat, tree}) {
  const picture = image ? `${name}, ${image.naturalWidth} by ${image.naturalHeight} pixels` : `${name}, not shown yet`;
  if (!shown) return `${picture}; nothing was asked about it yet`;
  const over = [heat && shown.map && `the relevance map (highest at the ${highest(shown.map)})`,
                tree && `the quadtree of ${shown.tokens} tokens`].filter(Boolean);
  return over.length ? `${picture}, with ${over.join(' and ')}` : picture;
}

export function describeSeen(name, shown, how) {
  const kinds = {native: 'in full detail', resize: 'shrunk evenly', seen: 'fine where it looked, coarse elsewhere',
                 area: 'coloured by tokens per area'};
  return `${name} ${kinds[how]}${shown ? `, ${how === 'native' ? shown.native : shown.tokens} tokens` : ''}`;
}
