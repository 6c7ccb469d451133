// OpenAI's Responses against `arrcoc serve`: npm install openai && node responses.mjs PICTURE QUESTION
import {readFileSync} from 'node:fs';
import OpenAI from 'openai';

const [picture = 'examples/pictures/receipt.jpg', question = 'What is the total?'] = process.argv.slice(2);
const client = new OpenAI({
  baseURL: (process.env.ARRCOC_URL ?? 'http://127.0.0.1:8080') + '/v1',
  apiKey: process.env.ARRCOC_KEY ?? 'none',
});
const reply = await client.responses.create({
  model: process.env.ARRCOC_MODEL ?? 'arrcoc-tiny',
  input: [{role: 'user', content: [
    {
      type: 'input_image',
      image_url: 'data:image/jpeg;base64,' + readFileSync(picture).toString('base64'),
      detail: 'low',  // 64 image tokens; high: 400, auto: what the question needs
    },
    {type: 'input_text', text: question},
  ]}],
  store: false,
});
console.log(reply.output_text, reply.usage.image_tokens);
