/**
 * What a status page is made of, computed: states and days of components, ink on colours, pictures,
 * feeds.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import type { MonitorCondition, MonitorState } from '../../../../ports/domain/watchdog.js';
import { getAnnouncementState, type AnnouncementDoc } from '../../../../plugins/statuspages/model/announcement.js';
import { getContrastRatio, pickTextColour } from '../../../../lib/brand/colour.js';
import {
  getComponentCondition,
  buildMonitorIndex,
  listComponentMonitors,
  findWorstState,
} from '../../../../plugins/statuspages/model/component-condition.js';
import { renderAtom, renderRss } from '../../../../plugins/statuspages/model/announcement-feed.js';

const TODAY = 20_000;
const monitor = (source: string, state: MonitorState, more: Partial<MonitorCondition> = {}): MonitorCondition => ({
  source,
  name: source,
  parent_source: null,
  project: null,
  public: false,
  state,
  first_day: TODAY - 9,
  days: [[TODAY, 3_600, 0, 0]],
  ...more,
});

describe('status page components', () => {
  it('have the worst state of their monitors, ignoring silent ones', () => {
    const of = (...states: MonitorState[]) =>
      getComponentCondition(
        states.map((state, i) => monitor(`${i}`, state)),
        TODAY,
      ).state;
    expect(of('up', 'down', 'warning')).to.equal('down');
    expect(of('up', 'warning', 'maintenance')).to.equal('warning');
    expect(of('up', 'maintenance', 'stopped')).to.equal('maintenance');
    expect(of('up', 'unknown', 'stopped')).to.equal('up');
    expect(of('unknown', 'stopped')).to.equal('none');
    expect(of()).to.equal('none');
    expect(findWorstState(['up', 'none'])).to.equal('up');
  });

  it('show the worst state per day', () => {
    const { days, share } = getComponentCondition(
      [
        monitor('a', 'up', {
          days: [
            [TODAY - 1, 86_400, 0, 600],
            [TODAY, 3_600, 0, 0],
          ],
        }),
        monitor('b', 'up', {
          days: [
            [TODAY - 1, 86_400, 90, 60],
            [TODAY, 3_600, 30, 0],
          ],
        }),
      ],
      TODAY,
    );
    expect(days).to.have.length(90);
    expect(days.at(-1)).to.deep.equal({ state: 'warning', minutes: 1 });
    expect(days.at(-2)).to.deep.equal({ state: 'down', minutes: 10 });
    expect(days.at(-3)).to.deep.equal({ state: 'up', minutes: null });
    expect(days.at(-10)).to.deep.equal({ state: 'up', minutes: null });
    expect(days.at(-11)).to.deep.equal({ state: 'none', minutes: null });
    expect(share).to.be.closeTo(1 - 600 / (9 * 86_400 + 3_600), 1e-9);
  });

  it('represent single monitors or whole branches, including cycles', () => {
    const family = buildMonitorIndex([
      monitor('a', 'up', { parent_source: 'c' }),
      monitor('b', 'up', { parent_source: 'a' }),
      monitor('c', 'up', { parent_source: 'b' }),
      monitor('d', 'up'),
    ]);
    const names = (component: { sources: string[]; subtree: string | null }) =>
      listComponentMonitors({ name: '', details: false, ...component }, family)
        .map(({ source }) => source)
        .toSorted();
    expect(names({ sources: [], subtree: 'a' })).to.deep.equal(['a', 'b', 'c']);
    expect(names({ sources: ['d', 'gone'], subtree: null })).to.deep.equal(['d']);
    expect(names({ sources: ['d'], subtree: 'gone' })).to.deep.equal(['d']);
  });
});

describe('status page view', () => {
  it('has readable text on every background colour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (n) => {
        const colour = `#${n.toString(16).padStart(6, '0')}`;
        return getContrastRatio(colour, pickTextColour(colour)) >= 4.5;
      }),
    );
    expect(pickTextColour('#ffff00')).to.equal('#000000');
    expect(getContrastRatio('#000000', '#ffffff')).to.equal(21);
  });

  const announcement = (more: Partial<AnnouncementDoc> = {}): AnnouncementDoc => ({
    id: 'a',
    page_id: 'p',
    kind: 'maintenance',
    title: 'Work',
    components: [],
    starts_at: '2027-01-01T10:00:00.000Z',
    ends_at: '2027-01-01T11:00:00.000Z',
    ended_at: null,
    updates: [{ id: 'u', at: '2027-01-01T09:00:00.000Z', state: 'planned', text: 'Soon.', by: 'ann' }],
    created_at: '2027-01-01T09:00:00.000Z',
    ...more,
  });

  it('shows planned work by its start and end time', () => {
    const at = (now: string) => getAnnouncementState(announcement(), now);
    expect(at('2027-01-01T09:59:59.999Z')).to.equal('planned');
    expect(at('2027-01-01T10:00:00.000Z')).to.equal('underway');
    expect(at('2027-01-01T11:00:00.000Z')).to.equal('completed');
    const updates = [{ id: 'u', at: '', state: 'resolved' as const, text: '', by: '' }];
    expect(getAnnouncementState(announcement({ kind: 'incident', ends_at: null, updates }), '2027')).to.equal(
      'resolved',
    );
  });

  it('generates well-formed feeds from any text, with stable ids and no user names', () => {
    const turned = {
      title: 'gnp\u202eexe',
      url: 'https://x/',
      self: 'https://x/feed.xml',
      updated: '2027-01-01T00:00:00.000Z',
      announcements: [],
    };
    const feed = { title: 't', url: 'https://x/', self: 'https://x/feed.xml', updated: '2027-01-01T00:00:00.000Z' };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (title, text) => {
        const updates = [
          { id: 'u-1', at: '2027-01-01T09:00:00.000Z', state: 'planned' as const, text, by: 'secret-ann' },
        ];
        const announcements = [announcement({ title, updates })];
        for (const xml of [
          renderRss({ ...feed, title, announcements }),
          renderAtom({ ...feed, title, announcements }, 'p'),
        ]) {
          const parser = new SaxesParser({ xmlns: true });
          parser.on('error', (error) => {
            throw error;
          });
          parser.write(xml).close();
          expect(xml).to.include('urn:uuid:u-1').and.not.include('secret-ann');
        }
      }),
    );
    expect(renderRss({ ...feed, announcements: [] })).to.include('Fri, 01 Jan 2027 00:00:00 GMT');
    for (const make of [renderRss, (shown: typeof turned) => renderAtom(shown, 'p')] as const)
      expect(make(turned))
        .to.include('gnp[U+202E]exe')
        .and.not.match(/[\u202a-\u202e\u200b]/);
  });
});
