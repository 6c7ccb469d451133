// The official Anthropic package against `arrcoc serve`:
// npm install @anthropic-ai/sdk && node anthropic.mjs PICTURE QUESTION
import {readFileSync} from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';

const [picture = 'examples/pictures/receipt.jpg', question = 'What is the total?'] = process.argv.slice(2);
const client = new Anthropic({
  baseURL: process.env.ARRCOC_URL ?? 'http://127.0.0.1:8080',
  apiKey: process.env.ARRCOC_KEY ?? 'none',
});
const stream = client.messages.stream({
  model: process.env.ARRCOC_MODEL ?? 'arrcoc-tiny',
  max_tokens: 200,
  messages: [{role: 'user', content: [
    {type: 'image', source: {type: 'base64', media_type: 'image/jpeg', data: readFileSync(picture).toString('base64')}},
    {type: 'text', text: question},
  ]}],
}, {headers: {'X-Arrcoc-Budget': '180'}});  // the cap on image tokens
stream.on('text', (piece) => process.stdout.write(piece));
console.log('\n', (await stream.finalMessage()).usage);
