/** Quiet hours, filters, the words of a notification, and messages. */
import { expect } from 'chai';
import fc from 'fast-check';
import { maskTarget, type ChannelFilter } from '../../../plugins/notifications/channels/channel.js';
import { changeBody } from '../../../plugins/notifications/channels/channel-fields.js';
import { matchesSource, shouldNotify } from '../../../plugins/notifications/channels/channel-filter.js';
import { getQuietEnd, type QuietHours } from '../../../plugins/notifications/channels/quiet-hours.js';
import { buildMessage, type MessageSource } from '../../../plugins/notifications/notes/message.js';
import { toNote } from '../../../plugins/notifications/notes/describe-event.js';
import type { Notification } from '../../../plugins/notifications/notes/note.js';
import { toPlainText } from '../../../plugins/notifications/notes/plain-text.js';
import { renderMailHtml } from '../../../plugins/notifications/services/email-sender.js';
import { toPlainMessage } from '../../../plugins/notifications/services/sender.js';
import { splitNotifications } from '../../../plugins/notifications/sending/message-splitter.js';

const at = (text: string): number => Date.parse(text);
const night = (timezone: string): QuietHours => ({ from: '22:00', to: '07:00', timezone });

describe('notifications: quiet hours', () => {
  for (const [name, now, zone, end] of [
    ['over midnight, in UTC', '2026-11-20T23:30:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['after midnight', '2026-11-21T06:59:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['exactly at their end', '2026-11-21T07:00:00Z', 'UTC', '2026-11-21T07:00:00Z'],
    ['by day', '2026-11-21T12:00:10.5Z', 'UTC', '2026-11-21T12:00:10.5Z'],
    ['in the zone', '2026-11-20T21:30:00Z', 'Europe/Berlin', '2026-11-21T06:00:00Z'],
    ['a night in which clocks go forward', '2026-03-28T23:00:00Z', 'Europe/Berlin', '2026-03-29T05:00:00Z'],
    ['a night in which clocks go back', '2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25T06:00:00Z'],
    ['a zone of three quarters of an hour', '2026-11-20T18:00:00Z', 'Asia/Kathmandu', '2026-11-21T01:15:00Z'],
  ] as const) {
    it(`returns when the quiet hours end: ${name}`, () =>
      expect(new Date(getQuietEnd(at(now), night(zone))).toISOString()).to.equal(new Date(at(end)).toISOString()));
  }

  it('end at a non-quiet minute, at most a day and an hour ahead', () => {
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
          const end = getQuietEnd(now, { from, to, timezone });
          expect(end).to.be.at.least(Math.floor(now / 60_000) * 60_000);
          expect(end - now).to.be.at.most(25 * 3_600_000);
        },
      ),
    );
  });
});

describe('notifications: notes and filters', () => {
  const bug = {
    id: 'i',
    ref: 'shop-1',
    type: 'error',
    title: 'Total is wrong',
    severity: 'high',
    item_status: 'open',
    client_ref: null,
    regression: false,
    tags: ['payments'],
  };
  const filter = (more: Partial<ChannelFilter>): ChannelFilter => ({
    events: ['bug.created', 'monitor.down'],
    min_severity: 'medium',
    monitors: [],
    tags: [],
    projects: [],
    ...more,
  });
  const created = toNote({ event: 'bug.created', data: bug }) as Notification;
  const downOf = (data: object): Notification =>
    toNote({ event: 'monitor.down', data: { source: 'web-1', alarm_id: 'a', ...data } }) as Notification;
  /** Of a version before monitors had tags. */
  const down = downOf({});
  const tagged = downOf({ tags: ['search', 'prod'] });
  const untagged = downOf({ tags: [] });

  it('distinguishes new items, regressions and recoveries', () => {
    expect([created.topic, created.severity, created.path, created.title]).to.deep.equal([
      'bug.created',
      'high',
      '/bugs/shop-1',
      'shop-1: Total is wrong',
    ]);
    expect(toNote({ event: 'bug.created', data: { ...bug, regression: true } })?.topic).to.equal('bug.regression');
    expect(toNote({ event: 'bug.resolved', data: bug })?.topic).to.equal(null);
    expect(toNote({ event: 'webhook.test', data: {} })).to.equal(null);
  });

  for (const [what, event, data, expected] of [
    [
      'a failure with an exit code, its output and local time',
      'monitor.down',
      {
        source: 'db-1',
        name: 'Database',
        alarm_id: 'a-1',
        down_since_utc: '2026-11-28T14:33:59.048Z',
        last_heartbeat_at: '2026-11-28T14:33:59.048Z',
        reason: 'Exit code 3',
        message: 'disk full: /dev/sda1',
        exit_code: 3,
      },
      {
        title: 'Database is down',
        text: /^Exit code 3\. disk full: \/dev\/sda1\. Down since Sat, 28 Nov 2026, 15:33 CET\.$/,
      },
    ],
    [
      'silence, with the last message as such',
      'monitor.down',
      {
        source: 'job',
        alarm_id: 'a-1',
        down_since_utc: '2026-11-28T14:33:00.000Z',
        last_heartbeat_at: '2026-11-28T10:33:00.000Z',
        reason: 'No heartbeat for 5 min; expected every 1 min',
        message: 'saved 12 files',
      },
      { title: 'job is down', text: /No heartbeat for 5 min; expected every 1 min\. Last message: saved 12 files\./ },
    ],
    [
      'an event of an earlier version',
      'monitor.down',
      { source: 'job', alarm_id: 'a-1', down_since_utc: null },
      { title: 'job is down', text: /^Heartbeats stopped\.$/ },
    ],
    [
      'a recovery',
      'monitor.recovered',
      { source: 'job', alarm_id: 'a-1', state: 'up', resolution: null },
      { phase: 'recovered', title: 'job recovered', text: /^Up again\.$/ },
    ],
    [
      'a deletion, which is no recovery',
      'monitor.alarm_closed',
      { source: 'job', alarm_id: 'a-1', state: 'down', resolution: 'deleted' },
      { phase: 'closed', title: 'job: alert closed (deleted)', text: /^The monitor was deleted while it was down\.$/ },
    ],
    [
      'maintenance, which is no recovery',
      'monitor.recovered',
      { source: 'job', alarm_id: 'a-1', state: 'maintenance', resolution: 'maintenance' },
      { phase: 'closed', title: 'job: alert closed (maintenance)', text: /^The monitor is in maintenance\.$/ },
    ],
    [
      'an end of a kind that a later version adds',
      'monitor.recovered',
      { source: 'job', alarm_id: 'a-1', state: 'down', resolution: 'moved' },
      { phase: 'closed', title: 'job: alert closed (moved)' },
    ],
    [
      'a warning',
      'monitor.warning',
      { source: 'job', name: 'Job', reason: 'A check failed', message: 'queue: 40 waiting' },
      {
        topic: 'monitor.warning',
        severity: 'medium',
        title: 'Job: warning',
        text: /A check failed\. queue: 40 waiting\./,
      },
    ],
    [
      'a certificate',
      'monitor.certificate_expiring',
      { source: 'shop', name: 'shop', days_left: 4, expires_at: '2026-12-02T10:00:00Z' },
      {
        severity: 'high',
        title: 'shop: certificate expires soon',
        text: /Days left: 4\. Expires Wed, 2 Dec 2026, 11:00 CET\./,
      },
    ],
  ] as [string, string, object, Partial<Notification> | { text?: RegExp }][])
    it(`describes ${what}`, () => {
      const { text, ...rest } = expected as { text?: RegExp };
      const note = toNote({ event, data }, 'Europe/Berlin');
      expect(note).to.include(rest);
      if (text !== undefined) expect(note?.text).to.match(text);
    });

  it('names the project, and how long a monitor was down', () => {
    const data = { source: 'job', name: 'Nightly job', alarm_id: 'a', down_since_utc: '2026-11-28T14:33:00.000Z' };
    const down = toNote({ event: 'monitor.down', data }, 'UTC', 'Back office');
    expect(down).to.include({ title: 'Nightly job is down · Back office' });
    expect(down?.details).to.include({ project: 'Back office', source: 'job' });
    const timestamp = '2026-11-28T14:59:30.000Z';
    const end = toNote({ event: 'monitor.recovered', data: { ...data, state: 'up', resolution: null }, timestamp });
    expect(end).to.include({ title: 'Nightly job recovered' });
    expect(end?.text).to.equal('Up again after 26 min 30 s. It was down since Sat, 28 Nov 2026, 14:33 UTC.');
  });

  it('assigns the same fault key to all notifications of an alarm', () => {
    const data = { source: 'web-1', alarm_id: 'a-1' };
    expect(toNote({ event: 'monitor.down', data })?.fault).to.equal('alarm:a-1');
    expect(toNote({ event: 'monitor.recovered', data })?.fault).to.equal('alarm:a-1');
  });

  for (const [more, note, project, expected] of [
    [{}, created, 'shop', true],
    [{ projects: ['shop', 'web'] }, created, 'shop', true],
    [{ projects: ['shop'] }, created, 'other', false],
    [{ projects: ['shop'] }, down, null, false],
    [{ min_severity: 'critical' }, created, 'shop', false],
    [{ min_severity: 'high' }, created, 'shop', true],
    [{ events: ['monitor.down'] }, created, 'shop', false],
    [{ events: ['*'] }, created, 'shop', true],
    [{ tags: ['payments', 'x'] }, created, 'shop', true],
    [{ tags: ['search'] }, created, 'shop', false],
    [{ tags: ['search'] }, down, null, true],
    [{ tags: ['search'] }, tagged, null, true],
    [{ tags: ['payments'] }, tagged, null, false],
    [{ tags: ['search'] }, untagged, null, false],
    [{ monitors: ['web-*'] }, down, null, true],
    [{ monitors: ['db-*'] }, down, null, false],
    [{ monitors: ['db-*'] }, created, 'shop', true],
  ] as [Partial<ChannelFilter>, Notification, string | null, boolean][])
    it(`a channel ${expected ? 'wants' : 'leaves out'} ${note.topic} of ${project} with ${JSON.stringify(more)}`, () =>
      expect(shouldNotify(filter(more), note, note.topic ?? '', project)).to.equal(expected));

  it('sends recoveries only to channels that select them explicitly', () => {
    const end = toNote({ event: 'monitor.recovered', data: { source: 'web-1', alarm_id: 'a' } }) as Notification;
    expect(shouldNotify(filter({ events: ['monitor.recovered'] }), end, 'monitor.recovered', null)).to.equal(true);
    expect(shouldNotify(filter({ events: ['*'] }), end, 'monitor.recovered', null)).to.equal(false);
  });

  for (const [pattern, source, expected] of [
    ['web-1', 'web-1', true],
    ['web-1', 'web-11', false],
    ['web-*', 'web-', true],
    ['*/db', 'eu/west/db', true],
    ['eu/*/db', 'eu/db', false],
    ['a*b*c', 'abc', true],
    ['a*bb*c', 'abc', false],
    ['ab*ba', 'aba', false],
    ['*', 'anything', true],
  ] as [string, string, boolean][])
    it(`${pattern} ${expected ? 'matches' : 'does not match'} ${source}`, () =>
      expect(matchesSource(pattern, source)).to.equal(expected));

  it('reduces external text to a single line without control characters', () => {
    expect(toPlainText('a\r\nBcc: x\u202Eb\u0000c')).to.equal('a Bcc: x b c');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        expect(toPlainText(text)).to.not.match(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(Array.from(toPlainText(text)).length).to.be.at.most(300);
      }),
    );
  });
});

describe('notifications: messages', () => {
  const line = (n: number): MessageSource => ({
    id: `n-${n}`,
    event: 'bug.created',
    severity: n === 3 ? 'critical' : 'low',
    title: `<b>Title ${n}</b>`,
    text: 'Text & more',
    url: '/bugs/shop-1',
    at: '2026-11-20T08:00:00.000Z',
    fault: null,
    end: false,
  });
  const lines = (n: number): MessageSource[] => Array.from({ length: n }, (_, i) => line(i));

  it('says what to do at the start of a fault, and links one page', () => {
    const down: MessageSource = { ...line(1), event: 'monitor.down', url: '/monitors/web-1', fault: 'alarm:a' };
    const message = buildMessage([down], 'https://aos.example/', 'UTC');
    expect(message.lines[0]?.text).to.equal('Text & more Acknowledge it or silence it in AOS.');
    expect(message.url).to.equal('https://aos.example/monitors/web-1');
    expect(renderMailHtml(message).match(/href=/g)).to.have.lengthOf(1);
    const end = buildMessage([{ ...down, event: 'monitor.recovered', end: true }], 'https://aos.example/', 'UTC');
    expect(end.lines[0]?.text).to.equal('Text & more');
    const plain = toPlainMessage(message);
    expect(plain)
      .to.include('Fri, 20 Nov 2026, 08:00 UTC')
      .and.not.match(/\d{4}-\d{2}-\d{2}T/);
  });

  it('summarizes several notifications with the highest severity', () => {
    expect(buildMessage(lines(1), 'https://aos.example/', 'UTC').subject).to.equal('<b>Title 0</b>');
    const many = buildMessage(lines(25), 'https://aos.example/', 'Asia/Tokyo');
    expect([many.subject, many.severity, many.lines.length]).to.deep.equal([
      '25 alerts: <b>Title 0</b> …',
      'critical',
      25,
    ]);
    expect(many.lines[0]).to.include({ url: 'https://aos.example/bugs/shop-1', when: 'Fri, 20 Nov 2026, 17:00 GMT+9' });
  });

  it('generates the same id for the same notifications, and another id for others', () => {
    const idOf = (n: number, url: string): string => buildMessage(lines(n), url, 'UTC').id;
    expect(idOf(2, 'https://x')).to.equal(idOf(2, 'https://y'));
    expect(idOf(2, 'https://x')).to.not.equal(idOf(3, 'https://x'));
  });

  it('escapes text in HTML', () => {
    const html = renderMailHtml(buildMessage(lines(2), 'https://aos.example', 'UTC'));
    expect(html).to.include('&lt;b&gt;Title 0&lt;/b&gt;').and.include('Text &amp; more').and.not.include('<b>Title');
  });

  it('splits by count and size without loss', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 3_000 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 400, max: 4_000 }),
        (texts, notes, bytes) => {
          const all = texts.map((text, i) => ({ ...line(i), text }));
          const parts = splitNotifications(all, { limits: { notes, bytes } }, 'https://aos.example', 'UTC');
          expect(parts.flat()).to.deep.equal(all);
          expect(parts.every((part) => part.length <= notes && part.length > 0)).to.equal(true);
        },
      ),
    );
  });
});

describe('notifications: fields of a channel', () => {
  for (const [what, more, field] of [
    ['an empty name', { name: ' ' }, 'name'],
    ['an unknown kind', { kind: 'fax' }, 'kind'],
    ['an unknown event', { events: ['monitor.dwon'] }, 'events'],
    ['an unknown severity', { min_severity: 'urgent' }, 'min_severity'],
    ['an hour that does not exist', { quiet_from: '25:00' }, 'quiet_from'],
    ['a time zone that does not exist', { timezone: 'Mars/Base' }, 'timezone'],
    ['a digest of two days', { digest_minutes: 2_880 }, 'digest_minutes'],
    ['a negative reminder', { repeat_minutes: -1 }, 'repeat_minutes'],
    ['half a minute', { flap_minutes: 0.5 }, 'flap_minutes'],
    ['a header name with a space', { headers: { 'x y': '1' } }, 'headers'],
    ['a header that the transport sets', { headers: { 'Content-Length': '1' } }, 'headers'],
    ['a header value with a line break', { headers: { x: 'a\r\nb: c' } }, 'headers'],
  ] as [string, object, string][])
    it(`rejects ${what}`, () => expect(changeBody.validate(more).error?.details[0]?.path[0]).to.equal(field));

  it('accepts comma-separated lists', () => {
    const { value, error } = changeBody.validate({ events: 'monitor.down, bug.created', monitors: 'a,b-*' });
    expect([error, value]).to.deep.equal([
      undefined,
      { events: ['monitor.down', 'bug.created'], monitors: ['a', 'b-*'] },
    ]);
  });

  it('shows only scheme and host of a URL', () => {
    expect(maskTarget('slack', 'https://hooks.example/T0/B0/x')).to.equal('https://hooks.example/…');
    expect(maskTarget('email', 'a@b.example')).to.equal('a@b.example');
  });
});
