import { expect } from 'chai';
import { LiveHub } from '../../../plugins/live/live-hub.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import type { ServerSentEvent } from '../../../ports/http/index.js';
import { RecordingLog } from '../../kit/fakes.js';
import { waitUntil } from '../../harness.js';

describe('live: the hub', () => {
  let marks: Record<string, string>;
  let requested: number;
  let subjects: Set<string>;
  let hub: LiveHub;
  let log: RecordingLog;

  beforeEach(() => {
    marks = { bugs: 'a', monitors: 'a' };
    requested = 0;
    subjects = new Set();
    log = new RecordingLog();
    const topic = (name: string) => ({
      name,
      getRevision: async (subject: string) => {
        requested += 1;
        subjects.add(subject);
        if (marks[name] === 'broken') throw new Error('the store is down');
        return marks[name] ?? '';
      },
    });
    hub = new LiveHub(() => [topic('bugs'), topic('monitors')], log, 5);
  });

  /** What one page hears, until its end. */
  function page(names: string[]): { heard: ServerSentEvent[]; leave: () => Promise<void> } {
    const end = new AbortController();
    const heard: ServerSentEvent[] = [];
    const done = (async () => {
      for await (const event of hub.streamEvents(names, end.signal)) heard.push(event);
    })();
    return {
      heard,
      leave: () => {
        end.abort();
        return done;
      },
    };
  }

  it('sends changes of the page’s topics only, and nothing without a change', async () => {
    const [one, both] = [page(['bugs']), page(['bugs', 'monitors', 'nonsense'])];
    await waitUntil('the marks are known', () => requested > 6);
    expect([one.heard, both.heard]).to.deep.equal([[], []]);
    marks['monitors'] = 'b';
    await waitUntil('one hears', () => both.heard.length === 1);
    marks['bugs'] = 'b';
    await waitUntil('both hear', () => both.heard.length === 2 && one.heard.length === 1);
    expect(one.heard).to.deep.equal([{ event: 'changed', data: 'bugs' }]);
    expect(both.heard.map(({ data }) => data)).to.deep.equal(['monitors', 'bugs']);
    await Promise.all([one.leave(), both.leave()]);
  });

  it('batches simultaneous changes, so that a page with several topics reloads once', async () => {
    let held: (() => void)[] | null = null;
    let bugs = 0;
    const slow = async (): Promise<string> => {
      const mark = marks['monitors'] ?? '';
      if (held !== null) await new Promise<void>((resolve) => held?.push(resolve));
      return mark;
    };
    const quick = async (): Promise<string> => `${(bugs += 1) && marks['bugs']}`;
    const topics = [
      { name: 'bugs', getRevision: quick },
      { name: 'monitors', getRevision: slow },
    ];
    hub = new LiveHub(() => topics, log, 5);
    const both = page(['bugs', 'monitors']);
    await waitUntil('the marks are known', () => bugs > 2);
    const waiting: (() => void)[] = (held = []);
    await waitUntil('one topic is being asked', () => waiting.length === 1);
    marks = { bugs: 'b', monitors: 'b' };
    const before = bugs;
    await waitUntil('the other was asked', () => bugs > before + 1);
    expect(both.heard).to.deep.equal([]);
    held = null;
    waiting[0]?.();
    await waitUntil('both are told', () => both.heard.length > 0);
    expect(both.heard.map(({ data }) => data)).to.have.members(['bugs', 'monitors']);
    await both.leave();
  });

  it('queries the store once for all pages of a topic, and never without a page', async () => {
    const pages = Array.from({ length: 20 }, () => page(['bugs']));
    await waitUntil('it is asked', () => requested > 0);
    expect([hub.size, requested < 10]).to.deep.equal([1, true]);
    await Promise.all(pages.map(({ leave }) => leave()));
    expect(hub.size).to.equal(0);
    const before = requested;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(requested - before).to.be.at.most(1);
  });

  it('decodes the subject of a topic, and sends the topic name as requested', async () => {
    const name = formatLiveTopic('bugs', 'queue@warehouse/1 é');
    const one = page([name, 'bugs:%E9%zz']);
    await waitUntil('the mark is known', () => requested > 1);
    expect([...subjects]).to.deep.equal(['queue@warehouse/1 é']);
    marks['bugs'] = 'b';
    await waitUntil('it is told', () => one.heard.length === 1);
    expect(one.heard).to.deep.equal([{ event: 'changed', data: name }]);
    await one.leave();
  });

  it('continues after a failed query of the store', async () => {
    const one = page(['bugs']);
    await waitUntil('the mark is known', () => requested > 1);
    marks['bugs'] = 'broken';
    await waitUntil('it is in the log', () => log.lines.length > 0);
    marks['bugs'] = 'b';
    await waitUntil('it is told', () => one.heard.length === 1);
    await one.leave();
  });

  it('sends a second change that occurs while the first is being sent', async () => {
    const end = new AbortController();
    const events = hub.streamEvents(['bugs'], end.signal);
    const first = events.next();
    await waitUntil('the mark is known', () => requested > 1);
    marks['bugs'] = 'b';
    expect((await first).value).to.deep.equal({ event: 'changed', data: 'bugs' });
    // The page asks, and the topic changes behind its back before the next event is wanted.
    const other = page(['bugs']);
    marks['bugs'] = 'c';
    await waitUntil('another page hears', () => other.heard.length === 1);
    const second = events.next();
    expect((await second).value).to.deep.equal({ event: 'changed', data: 'bugs' });
    end.abort();
    await Promise.all([events.return(undefined), other.leave()]);
  });
});
