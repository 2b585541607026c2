import { expect } from 'chai';
import { correctSenderTime } from '../../../lib/sender-clock.js';

describe('lib: sender clock', () => {
  const received = Date.parse('2026-11-28T12:00:00.000Z');
  for (const [what, at, sentAt, expected] of [
    ['a clock three days slow', '2026-11-25T11:59:58.000Z', '2026-11-25T12:00:00Z', '2026-11-28T11:59:58.000Z'],
    ['a clock an hour fast', '2026-11-28T12:59:00.000Z', '2026-11-28T13:00:00Z', '2026-11-28T11:59:00.000Z'],
    [
      'an old report with a correct clock',
      '2026-11-20T08:00:00.000Z',
      '2026-11-28T11:59:30Z',
      '2026-11-20T08:00:00.000Z',
    ],
    ['a difference of a minute', '2026-11-28T11:58:00.000Z', '2026-11-28T11:59:00Z', '2026-11-28T11:58:00.000Z'],
    ['no time of sending', '2026-11-20T08:00:00.000Z', null, '2026-11-20T08:00:00.000Z'],
    ['no time of the report', null, '2026-11-25T12:00:00Z', null],
    ['an invalid time of sending', '2026-11-20T08:00:00.000Z', 'soon', '2026-11-20T08:00:00.000Z'],
  ] as const)
    it(`corrects the time only for a wrong clock: ${what}`, () =>
      expect(correctSenderTime(at, sentAt, received)).to.equal(expected));
});
