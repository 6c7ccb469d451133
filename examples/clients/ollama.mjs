// The official Ollama package against `arrcoc serve`: npm install ollama && node ollama.mjs PICTURE QUESTION
import {readFileSync} from 'node:fs';
import {Ollama} from 'ollama';

const [picture = 'examples/pictures/receipt.jpg', question = 'What is the total?'] = process.argv.slice(2);
const client = new Ollama({
  host: process.env.ARRCOC_URL ?? 'http://127.0.0.1:8080',
  headers: {Authorization: 'Bearer ' + (process.env.ARRCOC_KEY ?? 'none')},
});
const stream = await client.chat({
  model: process.env.ARRCOC_MODEL ?? 'arrcoc-tiny',
  messages: [{role: 'user', content: question, images: [readFileSync(picture).toString('base64')]}],
  arrcoc: {budget: 180},  // the cap on image tokens; a number, fast, balanced, accurate or auto
  stream: true,
});
for await (const part of stream) {
  process.stdout.write(part.message.content);
  if (part.done) console.log('\n', part.image_tokens);
}
