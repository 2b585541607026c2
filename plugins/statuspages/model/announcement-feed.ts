/** Each update is a separate entry with a stable id. */
import { toXmlText } from '../../../lib/text/xml.js';
import type { AnnouncementDoc, AnnouncementUpdate } from './announcement.js';
import { ANNOUNCEMENT_STATE_LABELS } from './state-labels.js';

export const MAX_FEED_ENTRIES = 50;

export interface AnnouncementFeed {
  title: string;
  url: string;
  self: string;
  updated: string;
  announcements: readonly AnnouncementDoc[];
}

interface FeedEntry {
  id: string;
  at: string;
  title: string;
  text: string;
}

function listEntries(announcements: readonly AnnouncementDoc[]): FeedEntry[] {
  const entry = ({ title, components }: AnnouncementDoc, { id, at, state, text }: AnnouncementUpdate): FeedEntry => {
    const about = components.length === 0 ? '' : `\n\n${components.join(', ')}`;
    return {
      id: `urn:uuid:${id}`,
      at,
      title: `${title}: ${ANNOUNCEMENT_STATE_LABELS[state].toLowerCase()}`,
      text: text + about,
    };
  };
  return announcements
    .flatMap((one) => one.updates.map((update) => entry(one, update)))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, MAX_FEED_ENTRIES);
}

const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n';
const formatUtc = (at: string): string => new Date(at).toUTCString();

export function renderRss({ title, url, self, updated, announcements }: AnnouncementFeed): string {
  const entries = listEntries(announcements);
  const items = entries.map(
    (one) =>
      `<item><title>${toXmlText(one.title)}</title><link>${toXmlText(url)}</link><guid isPermaLink="false">${one.id}</guid>` +
      `<pubDate>${formatUtc(one.at)}</pubDate><description>${toXmlText(one.text)}</description></item>\n`,
  );
  return (
    `${XML_DECLARATION}<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>\n` +
    `<title>${toXmlText(title)}</title><link>${toXmlText(url)}</link><description>${toXmlText(title)}</description>\n` +
    `<atom:link href="${toXmlText(self)}" rel="self" type="application/rss+xml"/>\n` +
    `<lastBuildDate>${formatUtc(entries[0]?.at ?? updated)}</lastBuildDate>\n${items.join('')}</channel></rss>\n`
  );
}

export function renderAtom({ title, url, self, updated, announcements }: AnnouncementFeed, id: string): string {
  const entries = listEntries(announcements);
  const items = entries.map(
    (one) =>
      `<entry><id>${one.id}</id><title>${toXmlText(one.title)}</title><updated>${one.at}</updated>` +
      `<link href="${toXmlText(url)}"/><content type="text">${toXmlText(one.text)}</content></entry>\n`,
  );
  return (
    `${XML_DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom">\n<id>urn:uuid:${id}</id><title>${toXmlText(title)}</title>` +
    `<updated>${entries[0]?.at ?? updated}</updated><author><name>${toXmlText(title)}</name></author>\n` +
    `<link href="${toXmlText(url)}"/><link rel="self" href="${toXmlText(self)}"/>\n${items.join('')}</feed>\n`
  );
}
