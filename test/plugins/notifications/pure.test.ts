/** Quiet hours, rules, the words of a note, and how several become one message. */
import { expect } from 'chai';
import fc from 'fast-check';
import { channelFields, shownTarget } from '../../../plugins/notifications/channels/channel.js';
import { quietUntil, type Quiet } from '../../../plugins/notifications/channels/quiet.js';
import { messageOf } from '../../../plugins/notifications/notes/message.js';
import { noteOf, plain, type Note } from '../../../plugins/notifications/notes/note.js';
import { ruleMatches, type NotificationRule } from '../../../plugins/notifications/rules/rule.js';
import { htmlOf } from '../../../plugins/notifications/sending/email.js';
import { textOf } from '../../../plugins/notifications/sending/sender.js';

const at = (text: string): number => Date.parse(text);
const night = (timezone: string): Quiet => ({ from: '22:00', to: '07:00', timezone });

describe('notifications: quiet hours', () => {
  for (const [name, now, zone, end] of [
    ['over midnight, in UTC', '2026-11-20T23:30:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['after midnight', '2026-11-21T06:59:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['at their end they are over', '2026-11-21T07:00:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['by day', '2026-11-21T12:00:10.5Z', 'UTC', '2026-11-21T12:00:10.5Z'],
    ['in the zone', '2026-11-20T21:30:00Z', 'Europe/Berlin', '2026-11-21T06:00:00Z'],
    ['a night in which clocks go forward', '2026-03-28T23:00:00Z', 'Europe/Berlin', '2026-03-29T05:00:00Z'],
    ['a night in which clocks go back', '2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25T06:00:00Z'],
    ['a zone of three quarters of an hour', '2026-11-20T18:00:00Z', 'Asia/Kathmandu', '2026-11-21T01:15:00Z'],
  ] as const) {
    it(name, () =>
      expect(new Date(quietUntil(at(now), night(zone))).toISOString()).to.equal(new Date(at(end)).toISOString()),
    );
  }

  it('end at a minute that is not quiet, at most a day and an hour away', () => {
    const clock = fc
      .integer({ min: 0, max: 1439 })
      .map((n) => `${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}`);
    fc.assert(
      fc.property(
        clock,
        clock,
        fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'),
        fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') }),
        (from, to, timezone, now) => {
          const end = quietUntil(now, { from, to, timezone });
          expect(end).to.be.at.least(Math.floor(now / 60_000) * 60_000);
          expect(end - now).to.be.at.most(25 * 3_600_000);
        },
      ),
    );
  });
});

describe('notifications: notes and rules', () => {
  const bug = {
    id: 'i',
    ref: 'shop-1',
    type: 'error',
    title: 'Total is wrong',
    severity: 'high',
    item_status: 'open',
    client_ref: null,
    regression: false,
  };
  const rule = (more: Partial<NotificationRule>): NotificationRule => ({
    id: 'r',
    channel_id: 'c',
    project: null,
    topics: ['bug.created'],
    least_severity: 'medium',
    created_at: '',
    ...more,
  });
  const created = noteOf({ event: 'bug.created', data: bug }) as Note;

  it('a new item, a regression and an end are different things', () => {
    expect([created.topic, created.severity, created.path, created.title]).to.deep.equal([
      'bug.created',
      'high',
      '/bugs/shop-1',
      'shop-1: Total is wrong',
    ]);
    expect(noteOf({ event: 'bug.created', data: { ...bug, regression: true } })?.topic).to.equal('bug.regression');
    expect(noteOf({ event: 'bug.resolved', data: bug })?.topic).to.equal(null);
    expect(noteOf({ event: 'webhook.test', data: {} })).to.equal(null);
  });

  it('a fault and its end carry the same mark', () => {
    const monitor = {
      source: 'web-1',
      state: 'down',
      previous_state: 'up',
      alarm_id: 'a-1',
      deferred: false,
      resolution: null,
      down_since_utc: null,
    };
    expect(noteOf({ event: 'monitor.down', data: monitor })?.fault).to.equal('alarm:a-1');
    expect(noteOf({ event: 'monitor.recovered', data: monitor })?.fault).to.equal('alarm:a-1');
  });

  for (const [more, project, expected] of [
    [{}, 'shop', true],
    [{ project: 'shop' }, 'shop', true],
    [{ project: 'shop' }, 'other', false],
    [{ project: 'shop' }, null, false],
    [{ least_severity: 'critical' }, 'shop', false],
    [{ least_severity: 'high' }, 'shop', true],
    [{ topics: ['monitor.down'] }, 'shop', false],
  ] as [Partial<NotificationRule>, string | null, boolean][]) {
    it(`${JSON.stringify(more)} for ${project}: ${expected}`, () =>
      expect(ruleMatches(rule(more), created, project)).to.equal(expected));
  }

  it('text from outside is one line without marks that steer', () => {
    expect(plain('a\r\nBcc: x\u202Eb\u0000c')).to.equal('a Bcc: x b c');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        expect(plain(text)).to.not.match(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(Array.from(plain(text)).length).to.be.at.most(300);
      }),
    );
  });
});

describe('notifications: messages', () => {
  const line = (n: number): Parameters<typeof messageOf>[0][number] => ({
    id: `n-${n}`,
    severity: n === 3 ? 'critical' : 'low',
    title: `<b>Title ${n}</b>`,
    text: 'Text & more',
    url: '/bugs/shop-1',
    at: '2026-11-20T08:00:00.000Z',
    end: false,
  });
  const lines = (n: number) => Array.from({ length: n }, (_, i) => line(i));

  it('one note is itself, several are summed up with the gravest severity, and what is beyond 20 is counted', () => {
    expect(messageOf(lines(1), 'https://aos.example/').subject).to.equal('<b>Title 0</b>');
    const many = messageOf(lines(25), 'https://aos.example/');
    expect([many.subject, many.severity, many.lines.length, many.more]).to.deep.equal([
      '25 notifications: <b>Title 0</b> …',
      'critical',
      20,
      5,
    ]);
    expect(many.lines[0]?.url).to.equal('https://aos.example/bugs/shop-1');
    expect(textOf(many)).to.include('and 5 more: https://aos.example/');
  });

  it('the same notes make the same id, others another', () => {
    expect(messageOf(lines(2), 'x').id).to.equal(messageOf(lines(2), 'y').id);
    expect(messageOf(lines(2), 'x').id).to.not.equal(messageOf(lines(3), 'x').id);
  });

  it('HTML holds the text as text', () => {
    const html = htmlOf(messageOf(lines(2), 'https://aos.example'));
    expect(html).to.include('&lt;b&gt;Title 0&lt;/b&gt;').and.include('Text &amp; more').and.not.include('<b>Title');
  });
});

describe('notifications: the form of a channel', () => {
  const base = { name: 'on call', kind: 'slack', target: 'https://hooks.example/T0/B0/x', timezone: 'Europe/Berlin' };
  for (const [what, more, field] of [
    ['no name', { name: '' }, 'name'],
    ['no such kind', { kind: 'fax' }, 'kind'],
    ['a file as address', { target: 'file:///etc/passwd' }, 'target'],
    ['a URL as e-mail address', { kind: 'email' }, 'target'],
    ['an hour that is none', { quiet_from: '25:00', quiet_to: '07:00' }, 'quiet_from'],
    ['no such zone', { timezone: 'Mars/Base' }, 'timezone'],
    ['a digest of two days', { digest_minutes: '2880' }, 'digest_minutes'],
  ] as [string, Record<string, string>, string][]) {
    it(what, () =>
      expect(channelFields(more['kind']).validate({ ...base, ...more }).error?.details[0]?.path).to.deep.equal([field]),
    );
  }

  it('of a hook only scheme and host are shown', () => {
    expect(shownTarget('slack', base.target)).to.equal('https://hooks.example/…');
    expect(shownTarget('email', 'a@b.example')).to.equal('a@b.example');
  });
});
