// The official OpenAI package against `arrcoc serve`: npm install openai && node openai.mjs PICTURE QUESTION
import {readFileSync} from 'node:fs';
import OpenAI from 'openai';

const [picture = 'examples/pictures/receipt.jpg', question = 'What is the total?'] = process.argv.slice(2);
const client = new OpenAI({
  baseURL: (process.env.ARRCOC_URL ?? 'http://127.0.0.1:8080') + '/v1',
  apiKey: process.env.ARRCOC_KEY ?? 'none',
});
const stream = await client.chat.completions.create({
  model: process.env.ARRCOC_MODEL ?? 'arrcoc-tiny',
  messages: [{role: 'user', content: [
    {type: 'image_url', image_url: {url: 'data:image/jpeg;base64,' + readFileSync(picture).toString('base64')}},
    {type: 'text', text: question},
  ]}],
  arrcoc: {budget: 180},  // the cap on image tokens; a number, fast, balanced, accurate or auto
  stream: true,
  stream_options: {include_usage: true},
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '');
  if (chunk.usage) console.log('\n', chunk.usage.image_tokens);
}
