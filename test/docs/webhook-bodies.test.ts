/** The webhook guide shows the full body of each event (contract 70, amendments). */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { toNote } from '../../plugins/notifications/notes/describe-event.js';
import { LISTENED_EVENTS } from '../../plugins/notifications/notes/topics.js';
import { CONTRACT_EVENTS, TEST_EVENT } from '../../plugins/webhooks/model/event-names.js';
import { addPageUrl } from '../../plugins/webhooks/model/stored-event.js';

interface Body {
  event: string;
  data: Record<string, unknown>;
}

const guide = readFileSync('docs/webhook-events.md', 'utf8');
const bodies = [...guide.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, text = '']) => JSON.parse(text) as Body);

describe('webhook guide', () => {
  for (const name of [...Object.keys(CONTRACT_EVENTS), TEST_EVENT])
    it(`shows the body of ${name}, with the address of its page`, () => {
      const body = bodies.find(({ event }) => event === name);
      expect(body, name).to.have.property('data');
      const { url, ...data } = body?.data ?? {};
      expect(addPageUrl({ event: name, data }, 'https://aos.example.org').data).to.have.property('url', url);
    });

  it('shows bodies with event details that notification channels can format', () => {
    const described = bodies.filter((body) => toNote(body) !== null).map(({ event }) => event);
    expect(described).to.have.members([...LISTENED_EVENTS]);
  });
});
