import { expect } from 'chai';
import { hideTexts, redactText } from '../../../lib/text/hidden-texts.js';

describe('lib: hidden text', () => {
  hideTexts(['zq7-first', 'short', 'zq7-first-and-longer', 'zq7 & more']);

  for (const [text, masked] of [
    ['key zq7-first.', 'key [redacted].'],
    ['key zq7-first-and-longer.', 'key [redacted].'],
    ['https://a.example/?key=zq7%20%26%20more', 'https://a.example/?key=[redacted]'],
    ['a short word', 'a short word'],
  ] as const)
    it(`masks hidden parts of: ${text}`, () => expect(redactText(text)).to.equal(masked));
});
