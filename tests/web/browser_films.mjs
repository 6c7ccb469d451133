// Films: sent, watched, and shown over time.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {ask, give, look, shoot} from './browser_page.mjs';
import {avi} from './files.mjs';
import {pictureUrl} from './server.mjs';

// JPEG frames drawn by the browser: a street that passes by, and after a cut the receipt.
async function frames(page) {
  const urls = await page.evaluate(async ([street, receipt]) => {
    const decoded = async (url) => { const image = new Image(); image.src = url; await image.decode(); return image; };
    const [a, b] = [await decoded(street), await decoded(receipt)];
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [456, 888];
    const context = canvas.getContext('2d');
    return [...Array(24).keys()].map((i) => {
      context.fillStyle = '#303030';
      context.fillRect(0, 0, 456, 888);
      if (i < 12) context.drawImage(a, 10 * i, 100, 456, 888, 0, 0, 456, 888);
      else context.drawImage(b, 0, 0);
      return canvas.toDataURL('image/jpeg', 0.95);
    });
  }, [pictureUrl('street.jpg'), pictureUrl('receipt.jpg')]);
  return urls.map((url) => Buffer.from(url.split(',')[1], 'base64'));
}

export function films({binary, folder, shots, server, pages}) {
  let page = null;
  return {
    async 'takes a film and shows its tokens over time'() {
      page = await pages.open(server.url, {viewport: {width: 1280, height: 1060}});
      const jpegs = await frames(page);
      writeFileSync(folder + '/film.avi', avi(jpegs, 456, 888));
      mkdirSync(folder + '/frames');
      jpegs.forEach((jpeg, i) => writeFileSync(`${folder}/frames/${i}.jpg`, jpeg));
      await give(page, folder + '/film.avi');
      assert.match(await page.textContent('#items'), /film\.avifilm, \d+\.\d MB/);
      const sent = page.waitForRequest('**/v1/chat/completions');
      assert.equal(await ask(page, 'How much cash was paid?'), '40.00');
      const [part] = (await sent).postDataJSON().messages[0].content;
      assert.equal(part.type, 'video_url');
      assert.ok(part.video_url.url.startsWith('data:video/'));
      const said = await page.textContent('.film-facts');
      const asked = Number(said.match(/^Frame (\d+) of 24 \(/)[1]);
      assert.ok(asked > 12, 'after the cut: ' + said);
      const strip = page.locator('.frames li');
      assert.ok(await strip.count() >= 12);
      assert.equal(await page.locator('.frames li.asked').count(), 1);
      const tokens = await strip.locator('.facts').evaluateAll((all) => all.map((one) => parseInt(one.textContent)));
      assert.equal(tokens.reduce((a, b) => a + b), Number(said.match(/gave ([\d,]+) tokens/)[1].replace(',', '')));
      assert.match(await page.getAttribute('.timeline', 'aria-label'), new RegExp(`^Timeline of 24 frames: .* cuts at frames 13; frame ${asked} was asked$`));
    },
    async 'shows the frame that was asked, with its map'() {
      await page.locator(`canvas.stage[aria-label*="456 by 888 pixels, with the relevance map"]`).waitFor();
      assert.match(await page.textContent('.picture .title'), /^frame \d+ of film\.avi – \d+ of 1,624 tokens$/);
      await shoot(page, shots + '/page_film.jpg');
    },
    async 'walks over the frames'() {
      const before = await look(page, '.timeline');
      const slider = page.getByLabel('Frame', {exact: true});
      await slider.focus();
      await page.keyboard.press('Home');
      assert.match(await page.textContent('.walk output'), /^1 \(0\.0 s\): \d+ tokens, relevance \d\.\d\d$/);
      assert.notEqual(await look(page, '.timeline'), before, 'and says where');
      for (let i = 0; i < 12; ++i) await page.keyboard.press('ArrowRight');
      assert.match(await page.textContent('.walk output'), /^13 \(0\.5 s\): .*, after a cut$/);
    },
    async 'shows what a browser can of a film before it is asked'() {
      execFileSync(binary, ['watch', folder + '/frames', 'What is the total?', '--answer', 'none', '--video', folder + '/film.mp4'], {stdio: 'ignore'});
      const blank = await look(page, '#items canvas');
      await page.click('#items .remove');
      await give(page, folder + '/film.mp4');
      assert.notEqual(await look(page, '#items canvas'), blank);
      assert.match(await page.getAttribute('canvas.stage', 'aria-label'), /^film\.mp4, \d+ by \d+ pixels; nothing was asked/);
      await page.locator('#count', {hasText: 'A film is watched before its tokens are known.'}).waitFor();
    },
    async 'a film and a picture are one question'() {
      await page.click('#items .remove');
      await give(page, [folder + '/film.avi', folder + '/frames/0.jpg']);
      assert.equal(await ask(page, 'How much cash was paid?'), '40.00');
      assert.equal(await page.locator('.picture').count(), 2);
      assert.equal(await page.locator('.film:visible').count(), 1);
    },
    async 'says when a film is longer than what is watched'() {
      const small = await page.evaluate(() => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [64, 48];
        return canvas.toDataURL('image/jpeg').split(',')[1];
      });
      writeFileSync(folder + '/long.avi', avi(Array(1210).fill(Buffer.from(small, 'base64')), 64, 48));
      await page.click('#clear');
      await give(page, folder + '/long.avi');
      await ask(page, 'What is the total?');
      assert.match(await page.textContent('.film-facts'), /The film is too long: only its first 1,200 frames were watched\.$/);
      await page.context().close();
    },
  };
}
