import { toXmlText } from '../../../lib/text/xml.js';
import { toLocalTime } from '../../../lib/local-time.js';
import type { AnnouncementDoc, AnnouncementState } from '../model/announcement.js';
import { ANNOUNCEMENT_STATE_LABELS } from '../model/state-labels.js';

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

interface MailLink {
  label: string;
  url: string;
}

/** Text must not inject a mail header. */
const toSingleLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

function renderMail(
  subject: string,
  paragraphs: readonly string[],
  links: readonly MailLink[],
  foot: MailLink | null,
): MailText {
  const lines = [...paragraphs, ...links.map(({ label, url }) => `${label}: ${url}`)];
  const text = [...lines, ...(foot === null ? [] : [`--\n${foot.label}: ${foot.url}`])].join('\n\n');
  const anchor = ({ label, url }: MailLink): string =>
    `<a href="${toXmlText(url)}" style="color:#0a5f59">${toXmlText(label)}</a>`;
  const parts = [
    ...paragraphs.map((one) => toXmlText(one).replaceAll('\n', '<br>')),
    ...links.map(anchor),
    ...(foot === null ? [] : [`<small>${anchor(foot)}</small>`]),
  ];
  const html =
    '<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif;font-size:15px;line-height:1.5;color:#17211f">' +
    `${parts.map((one) => `<p>${one}</p>`).join('')}</body></html>`;
  return { subject: toSingleLine(subject), text: `${text}\n`, html };
}

export const renderConfirmation = (title: string, url: string): MailText =>
  renderMail(
    `Confirm your subscription to ${title}`,
    [
      `You asked for updates about “${toSingleLine(title)}” at this address.`,
      'Confirm within 24 hours. If this was not you, ignore this e-mail.',
    ],
    [{ label: 'Confirm subscription', url }],
    null,
  );

export const renderAlreadySubscribed = (title: string, unsubscribe: string): MailText =>
  renderMail(
    `You are already subscribed to ${title}`,
    [`This address already receives updates about “${toSingleLine(title)}”.`],
    [],
    { label: 'Unsubscribe', url: unsubscribe },
  );

export interface AnnouncementChangeNotice {
  state: AnnouncementState;
  text: string | null;
}

const formatTime = (at: string, zone: string): string => `${toLocalTime(at, zone).replace('T', ' ')} (${zone})`;

const SCHEDULED_TEXTS: Partial<Record<AnnouncementState, string>> = {
  underway: 'The planned work has started.',
  completed: 'The planned work has ended.',
};

export function renderAnnouncement(
  page: { title: string; timezone: string },
  { kind, title, components, starts_at, ends_at }: AnnouncementDoc,
  { state, text }: AnnouncementChangeNotice,
  links: { page: string; unsubscribe: string },
): MailText {
  const word = ANNOUNCEMENT_STATE_LABELS[state];
  const times =
    kind === 'maintenance' && ends_at !== null && state === 'planned'
      ? `From ${formatTime(starts_at, page.timezone)} until ${formatTime(ends_at, page.timezone)}.`
      : null;
  return renderMail(
    `[${page.title}] ${title}: ${word.toLowerCase()}`,
    [
      `${toSingleLine(title)}: ${word}`,
      text ?? SCHEDULED_TEXTS[state] ?? word,
      ...(times === null ? [] : [times]),
      ...(components.length === 0 ? [] : [`Affected: ${components.map(toSingleLine).join(', ')}.`]),
    ],
    [{ label: 'View status page', url: links.page }],
    { label: 'Unsubscribe', url: links.unsubscribe },
  );
}
