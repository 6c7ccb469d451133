// What goes wrong is one clear line.
import assert from 'node:assert/strict';
import {ask, give} from './browser_page.mjs';
import {freePort} from './ports.mjs';
import {picturePath, serve} from './server.mjs';

const receipt = picturePath('receipt.jpg');

export function failures({binary, folder, server, pages, patience}) {
  let page = null;
  const error = async (words) => {
    await page.locator('#error', {hasText: words}).waitFor();
    assert.ok(!(await page.textContent('#error')).includes('\n'));
    assert.equal(await page.textContent('#send'), 'Ask');
  };
  return {
    async 'says what is wrong with a file'() {
      page = await pages.open(server.url);
      await page.setInputFiles('#file', {name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('no')});
      await error('x.txt is neither a picture nor a film.');
      await page.setInputFiles('#file', {name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no')});
      await error('x.png cannot be shown: it is broken, or no picture.');
      assert.equal(await page.locator('#items li').count(), 0);
      await give(page, {name: 'x.mp4', mimeType: 'video/mp4', buffer: Buffer.from('no film')});
      await page.fill('#question', 'What is the total?');
      await page.click('#send');
      await error('the film cannot be read');
      await page.click('#items .remove');
      await page.setInputFiles('#file', Array(9).fill(receipt));
      await error('at most 8 pictures and films');
      assert.equal(await page.locator('#items li').count(), 8);
      await page.click('#clear');
    },
    async 'says what the server says'() {
      await give(page, receipt);
      for (const [status, message] of [[429, 'too many requests are waiting, try again later'], [504, 'the answer took longer than allowed']]) {
        await page.route('**/v1/chat/completions', (route) => route.fulfill({status, json: {error: {message}}}));
        await page.click('#send');
        await error(message);
        await page.unroute('**/v1/chat/completions');
      }
      await page.route('**/v1/chat/completions', (route) => route.fulfill({status: 500, body: 'oh'}));
      await page.click('#send');
      await error('The server answered with status 500.');
      await page.unroute('**/v1/chat/completions');
      await page.route('**/v1/chat/completions', (route) => route.fulfill({contentType: 'text/event-stream', body: 'data: {"choices": [{"delta": {"content": "3"}}]}\n\n'}));
      await page.click('#send');
      await error('The answer broke off.');
      await page.unroute('**/v1/chat/completions');
      await page.route('**/v1/chat/completions', (route) => route.abort());
      await page.click('#send');
      await error('The server cannot be reached.');
      await page.unroute('**/v1/chat/completions');
      assert.equal(await ask(page, 'What is the total?'), '33.10');
      assert.ok(await page.isHidden('#error'));
      await page.context().close();
    },
    async 'says what is too large, before and after it is sent'() {
      const narrow = await serve(binary, '--max-body-mb', '0.05');
      try {
        page = await pages.open(narrow.url);
        await page.setInputFiles('#file', receipt);
        await error(/^receipt\.jpg is too large: the question would have 0\.\d MB, this server takes 0\.05\.$/);
        await page.evaluate(async () => { (await import('/page_api.js')).server.limits = {body_mb: 99, pictures: 9}; });
        await give(page, receipt);
        await page.fill('#question', 'What is the total?');
        await page.click('#send');
        await error('the request is larger than 0.05 MB');
        await page.context().close();
      } finally {
        await narrow.stop();
      }
    },
    async 'says when the server is gone, and when it is back'() {
      const port = String(await freePort());
      const short = await serve(binary, '--port', port);
      page = await pages.open(short.url);
      await give(page, receipt);
      await page.fill('#question', 'What is the total?');
      await page.locator('#count', {hasText: 'image tokens'}).waitFor();
      await short.stop();
      await page.click('#send');
      await error('The server cannot be reached.');
      await page.locator('#health', {hasText: 'not reachable'}).waitFor();
      const again = await serve(binary, '--port', port);
      try {
        await page.locator('#health', {hasText: 'ready'}).waitFor();
        assert.equal(await ask(page, 'What is the total?'), '33.10');
        await page.context().close();
      } finally {
        await again.stop();
      }
    },
    async 'asks for a key where one is needed'() {
      const closed = await serve(binary, '--api-key', 'k');
      try {
        page = await pages.open(closed.url);
        await give(page, receipt);
        await page.fill('#question', 'What is the total?');
        await page.click('#send');
        await error('key is needed');
        await page.fill('#key', 'k');
        assert.equal(await ask(page, 'What is the total?'), '33.10');
        await page.context().close();
      } finally {
        await closed.stop();
      }
    },
    async 'says where a proxy sends pictures, and rates nothing there'() {
      const proxy = await serve(binary, '--upstream', server.url, ...patience);
      try {
        page = await pages.open(proxy.url);
        await page.locator('#where', {hasText: 'sent on to 127.0.0.1.'}).waitFor();
        await give(page, receipt);
        await ask(page, 'What is the total?');
        assert.match(await page.textContent('.card .facts'), /image tokens/);
        assert.match(await page.getAttribute('canvas.stage', 'aria-label'), /with the relevance map/);
        assert.ok(!await page.isVisible('.rate'), 'it keeps nothing');
        assert.ok(!await page.isVisible('.rate-hint'));
        await page.click('#items .remove');
        await give(page, folder + '/film.avi');  // passed on as it is
        assert.equal(await ask(page, 'How much cash was paid?'), '40.00');
        assert.ok(await page.isHidden('#error'));
        await page.context().close();
      } finally {
        await proxy.stop();
      }
    },
  };
}
