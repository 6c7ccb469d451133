// Several pictures, two questions, history, links and money.
import assert from 'node:assert/strict';
import {createServer, request as send} from 'node:http';
import {ask, give, look, shoot} from './browser_page.mjs';
import {tiff} from './files.mjs';
import {picturePath, serve} from './server.mjs';

const receipt = picturePath('receipt.jpg'), street = picturePath('street.jpg'), chart = picturePath('chart.jpg');

// Passes everything on to the server, but holds answers back after the event that has the first look.
function slow(url) {
  let release = null;
  const released = new Promise((resolve) => { release = resolve; });
  const between = createServer((request, response) => {
    const onward = send(url + request.url, {method: request.method, headers: {...request.headers, host: new URL(url).host, 'accept-encoding': 'identity'}}, async (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      if (!request.url.endsWith('completions')) return reply.pipe(response);
      reply.setEncoding('utf8');
      let told = '';
      for await (const piece of reply) {
        const pieces = (told + piece).split(/(?<=\n\n)/);
        told = pieces.at(-1).endsWith('\n\n') ? '' : pieces.pop();
        for (const event of pieces) {
          if (event.includes('finish_reason') && !event.includes('"role"')) await released;
          response.write(event);
        }
      }
      response.end(told);
    });
    request.pipe(onward);
  });
  return new Promise((resolve) => between.listen(0, '127.0.0.1', () =>
    resolve({url: `http://127.0.0.1:${between.address().port}`, release, stop: () => between.close()})));
}

export function several({binary, shots, server, pages}) {
  let page = null;
  const names = () => page.locator('#items .name').evaluateAll((all) => all.map((one) => one.firstChild.textContent));
  const marked = () => page.locator('.picture').evaluateAll((all) => all.map((one) => !one.querySelector('.mark').hidden));
  return {
    async 'takes several pictures, each with its map and tokens'() {
      page = await pages.open(server.url);
      await give(page, [street, receipt, chart]);
      assert.deepEqual(await names(), ['street.jpg', 'receipt.jpg', 'chart.jpg']);
      assert.equal(await ask(page, 'How much cash was paid?'), '40.00');
      assert.equal(await page.locator('.picture').count(), 3);
      assert.deepEqual(await marked(), [false, true, false], 'the receipt answered');
      assert.match(await page.textContent('.card .facts'), /from receipt\.jpg/);
      const titles = await page.locator('.picture .title').allTextContents();
      const kept = titles.map((title) => Number(title.match(/– ([\d,]+) of [\d,]+ tokens$/)[1].replace(',', '')));
      const all = Number((await page.textContent('.card .facts')).match(/(\d+) of \d+ image tokens/)[1]);
      assert.equal(kept.reduce((a, b) => a + b), all, 'the tokens of all are those of each');
      const stages = await page.locator('canvas.stage').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
      stages.forEach((label) => assert.match(label, /with the relevance map .* and the quadtree of \d+ tokens/));
    },
    async 'lets pictures be moved and removed'() {
      await page.getByRole('button', {name: 'Move receipt.jpg up'}).click();
      assert.deepEqual(await names(), ['receipt.jpg', 'street.jpg', 'chart.jpg']);
      assert.equal(await page.textContent('#moved'), 'receipt.jpg is now number 1 of 3.');
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Move receipt.jpg down', 'focus stays with it');
      await page.getByRole('button', {name: 'Remove street.jpg'}).click();
      assert.deepEqual(await names(), ['receipt.jpg', 'chart.jpg']);
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Remove chart.jpg');
      assert.equal(await ask(page, 'How much cash was paid?'), '40.00');
      assert.deepEqual(await marked(), [true, false]);
      await page.getByRole('button', {name: 'Remove chart.jpg'}).click();
    },
    async 'shows what only the server can decode, once it is asked'() {
      const pixels = await page.evaluate(async () => {
        const {items} = await import('/page_pictures.js');
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [457, 887];
        canvas.getContext('2d').drawImage(items[0].image, 0, 0);
        const {data} = canvas.getContext('2d').getImageData(0, 0, 457, 887);
        let text = '';
        for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
        return btoa(text);
      });
      await page.getByRole('button', {name: 'Remove receipt.jpg'}).click();
      await give(page, {name: 'scan.tif', mimeType: '', buffer: tiff(Buffer.from(pixels, 'base64'), 457, 887)});
      assert.match(await page.textContent('#items'), /shows it once it is asked/);
      assert.equal(await page.getAttribute('canvas.stage', 'aria-label'), 'scan.tif, not shown yet; nothing was asked about it yet');
      assert.equal(await ask(page, 'What is the total?'), '33.10');
      await page.locator('canvas.stage[aria-label^="scan.tif, 457 by 887 pixels, with the relevance map"]').waitFor();
      await page.getByRole('button', {name: 'Remove scan.tif'}).click();
      await give(page, receipt);
    },
    async 'compares two questions side by side'() {
      await page.click('#compare');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'question2');
      assert.ok(await page.isDisabled('#send'), 'the second is missing');
      assert.equal(await ask(page, 'What is the total?', 'What is the date?'), '33.10');
      const cards = page.locator('.card');
      assert.deepEqual(await cards.locator('.answer').allTextContents(), ['33.10', '10 jul 2024']);
      assert.deepEqual(await cards.locator('.words').allTextContents(), ['What is the total?', 'What is the date?']);
      assert.notEqual(await look(page, '.card:nth-child(1) canvas.stage'), await look(page, '.card:nth-child(2) canvas.stage'));
      assert.match(await page.textContent('#said'), /^Answer 1: 33\.10\. .* Answer 2: 10 jul 2024\. /);
      const [left, right] = [await cards.nth(0).boundingBox(), await cards.nth(1).boundingBox()];
      assert.ok(left.y === right.y && left.x + left.width <= right.x, 'side by side');
      await page.waitForFunction(() => /^1: .* 2: /.test(document.getElementById('count').textContent));
      await shoot(page, shots + '/page_compare.jpg');
      await page.click('#compare');
      assert.equal(await cards.count(), 1);
      assert.equal(await cards.locator('.answer').textContent(), '33.10', 'the first stays');
    },
    async 'draws the map before the answer ends'() {
      const between = await slow(server.url);
      try {
        const early = await pages.open(between.url);
        await give(early, receipt);
        await early.fill('#question', 'What is the total?');
        const before = await look(early, 'canvas.stage');
        await early.click('#send');
        await early.locator('canvas.stage[aria-label*="relevance map"]').waitFor();
        assert.equal(await early.textContent('.card .answer'), 'Looking …');
        assert.equal(await early.textContent('#send'), 'Looking …');
        assert.notEqual(await look(early, 'canvas.stage'), before);
        assert.ok(await early.isVisible('.card .cost'), 'and what it costs');
        between.release();
        await early.locator('.card .answer', {hasText: '33.10'}).waitFor();
        await early.context().close();
      } finally {
        between.release();
        between.stop();
      }
    },
    async 'remembers questions in this browser, and forgets them'() {
      await page.selectOption('#policy', 'lexical');
      await ask(page, 'What is the date?');
      await page.selectOption('#policy', 'realized');
      await page.fill('#question', '');
      await page.click('#open-history');
      const first = page.locator('#history-list button').first();
      assert.match(await first.textContent(), /^What is the date\?.*receipt\.jpg; \d+ of 1,624 tokens; budget 180, lexical, looks 1/);
      const stored = await page.evaluate(() => localStorage.getItem('arrcoc.history'));
      assert.ok(!/data:|base64/.test(stored) && stored.length < 10000, 'no pictures');
      await first.click();
      assert.equal(await page.inputValue('#question'), 'What is the date?');
      assert.equal(await page.inputValue('#policy'), 'lexical');
      await page.selectOption('#policy', 'realized');
      await page.reload();
      await page.click('#open-history');
      assert.ok(await page.locator('#history-list li').count() >= 3, 'still there');
      await page.click('#history-clear');
      assert.equal(await page.locator('#history-list li').count(), 0);
      assert.equal(await page.evaluate(() => localStorage.getItem('arrcoc.history')), null);
      await page.uncheck('#history-keep');
      await page.click('#history-close');
      await give(page, receipt);
      await ask(page, 'What is the date?');
      assert.equal(await page.evaluate(() => localStorage.getItem('arrcoc.history')), null, 'switched off');
      await page.evaluate(() => localStorage.removeItem('arrcoc.history-off'));
      await page.evaluate(async () => {
        const {remember} = await import('/page_history.js');
        for (let i = 0; i < 60; ++i) remember({question: 'q' + i, answer: '', tokens: 1, native: 2, files: [], options: {}});
      });
      assert.equal(JSON.parse(await page.evaluate(() => localStorage.getItem('arrcoc.history'))).length, 50, 'at most 50');
    },
    async 'keeps options in the address, and nothing else'() {
      await page.locator('#budget').fill('64');
      await page.locator('#budget').dispatchEvent('change');
      await page.selectOption('#passes', '2');
      await page.selectOption('#view', 'resize');
      await page.uncheck('#show-tree');
      const hash = new URL(page.url()).hash;
      assert.equal(hash, '#budget=64&policy=realized&passes=2&view=resize&tree=0');
      const other = await pages.open(server.url, {at: '/' + hash + '&compare=1'});
      assert.equal(await other.inputValue('#budget'), '64');
      assert.equal(await other.textContent('#budget-value'), '64');
      assert.equal(await other.inputValue('#passes'), '2');
      assert.equal(await other.inputValue('#view'), 'resize');
      assert.ok(!await other.isChecked('#show-tree') && await other.isChecked('#show-heat'));
      assert.ok(await other.isVisible('#question2'));
      await other.evaluate(() => { location.hash = '#budget=auto&policy=saliency&passes=9&view=none'; });
      await other.waitForFunction(() => document.getElementById('auto').checked);
      assert.ok(await other.isDisabled('#budget'));
      assert.equal(await other.inputValue('#policy'), 'saliency');
      assert.equal(await other.inputValue('#passes'), '2', 'nonsense is left aside');
      assert.ok(await other.isHidden('#question2'));
      await give(other, receipt);
      await other.selectOption('#policy', 'realized');
      assert.equal(await ask(other, 'What is the total?'), '33.10', 'auto is a budget');
      await other.context().close();
    },
    async 'says what a question costs natively and here, in money too'() {
      await page.goto(server.url + '/');
      await page.reload();
      await give(page, receipt);
      await ask(page, 'What is the total?');
      const cells = (row) => page.locator(`.card .${row} td:visible`).allTextContents();
      assert.equal((await cells('natively')).length, 1, 'no price, no money');
      await page.fill('#price', '10');
      const [tokens, one, thousand] = await cells('natively');
      assert.deepEqual([tokens, one, thousand], ['1,624', '$0.0162', '$16.2']);
      const kept = Number((await cells('here'))[0]);
      assert.equal((await cells('here'))[2], '$' + Number((kept / 100).toPrecision(3)));
      await page.locator('#count', {hasText: 'instead of $0.0162'}).waitFor();
      await page.reload();
      await page.waitForFunction(() => document.getElementById('price').value === '10');
      const priced = await serve(binary, '--prices', 'arrcoc*=4');
      try {
        const other = await pages.open(priced.url);
        await other.waitForFunction(() => document.getElementById('price').value === '4');
        assert.ok(await other.evaluate(() => document.getElementById('price').readOnly));
        assert.equal(await other.textContent('#price-hint'), 'The price is set by this server.');
        await give(other, receipt);
        await ask(other, 'What is the total?');
        assert.equal(await other.locator('.card .natively td').nth(2).textContent(), '$6.5');
        await other.locator('#savings', {hasText: /image tokens saved \(\d+\.\d %\), \$0\.0\d\./}).waitFor();
        await other.context().close();
      } finally {
        await priced.stop();
      }
      await page.context().close();
    },
  };
}
