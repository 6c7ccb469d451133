// Takes a text/event-stream in pieces cut anywhere, as the HTML standard reads it; calls on(data) for
// every event that has any. Lines end with LF, CR or CRLF; comments and other fields say nothing here.
export function eventReader(on) {
  let rest = '';
  let data = [];
  let returned = false;  // the last piece ended with CR, whose LF may come yet
  const take = (line) => {
    if (line === '') {
      if (data.length > 0) on(data.join('\n'));
      data = [];
    } else if (line === 'data' || line.startsWith('data:')) {
      data.push(line.slice(5).replace(/^ /, ''));
    }
  };
  return (piece) => {
    if (piece === '') return;
    const lines = (rest + (returned ? piece.replace(/^\n/, '') : piece)).split(/\r\n|\r|\n/);
    returned = piece.endsWith('\r');
    rest = lines.pop();
    lines.forEach(take);
  };
}
