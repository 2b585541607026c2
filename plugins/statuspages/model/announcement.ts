import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';
import type { Doc } from '../../../ports/store/index.js';

export const ANNOUNCEMENT_KINDS = ['incident', 'maintenance'] as const;
export const INCIDENT_STATES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
export const MAINTENANCE_STATES = ['planned', 'underway', 'completed'] as const;
export type AnnouncementKind = (typeof ANNOUNCEMENT_KINDS)[number];
export type AnnouncementState = (typeof INCIDENT_STATES)[number] | (typeof MAINTENANCE_STATES)[number];

export const MAX_UPDATES = 100;

export interface AnnouncementUpdate {
  [field: string]: string;
  id: string;
  at: string;
  state: AnnouncementState;
  text: string;
  /** Not shown to visitors. */
  by: string;
}

export interface AnnouncementMail {
  [field: string]: string | null;
  id: string;
  at: string;
  state: AnnouncementState;
  /** Null for a scheduled change without text. */
  text: string | null;
}

export interface AnnouncementDoc extends Doc {
  page_id: string;
  kind: AnnouncementKind;
  title: string;
  components: string[];
  starts_at: string;
  /** Null for an incident. */
  ends_at: string | null;
  ended_at: string | null;
  updates: AnnouncementUpdate[];
  created_at: string;
  mails?: AnnouncementMail[];
  /** Changes with every new entry of `mails`; null without entries. */
  mails_at?: string | null;
  /** Next scheduled change that subscribers have not been notified of. */
  mail_due_at?: string | null;
}

export const listStates = (kind: AnnouncementKind): readonly AnnouncementState[] =>
  kind === 'incident' ? INCIDENT_STATES : MAINTENANCE_STATES;
export const isFinalState = (state: AnnouncementState): boolean => state === 'resolved' || state === 'completed';

/**
 * Planned work without updates starts and ends by its times.
 * @param now RFC 3339
 */
export function getAnnouncementState(
  { kind, updates, starts_at, ends_at, ended_at }: AnnouncementDoc,
  now: string,
): AnnouncementState {
  const lastState = updates.at(-1)?.state ?? 'investigating';
  if (kind === 'incident' || ended_at !== null) return lastState;
  if (ends_at !== null && ends_at <= now) return 'completed';
  return lastState === 'planned' && starts_at <= now ? 'underway' : lastState;
}

/** @param now RFC 3339 */
export function getNextMailTime(
  {
    kind,
    updates,
    starts_at,
    ends_at,
    ended_at,
  }: Pick<AnnouncementDoc, 'kind' | 'updates' | 'starts_at' | 'ends_at' | 'ended_at'>,
  now: string,
): string | null {
  if (kind === 'incident' || ended_at !== null) return null;
  if (updates.at(-1)?.state === 'planned' && starts_at > now) return starts_at;
  return ends_at !== null && ends_at > now ? ends_at : null;
}

/** Returns the value of `mails_at`, unique per entry. */
export const formatMailMarker = ({ id, at }: AnnouncementMail): string => `${at} ${id}`;

const time = joi.string().max(64).description('RFC 3339');
const text = joi.string().trim().min(1).max(5_000);
const components = joi.array().items(joi.string().max(100)).max(50).description('Names of the affected components');

export const announcementBody = withSchemaName(
  'StatusAnnouncementCreation',
  joi
    .object({
      kind: joi
        .string()
        .valid(...ANNOUNCEMENT_KINDS)
        .required(),
      title: joi.string().trim().min(1).max(200).required(),
      text: text.required().description('Text for visitors'),
      state: joi
        .string()
        .valid(...INCIDENT_STATES, ...MAINTENANCE_STATES)
        .description('Default: `investigating`, for planned work `planned`'),
      components,
      starts_at: time.allow(null).empty(''),
      ends_at: time.allow(null).empty('').description('Required for planned work'),
    })
    .example({ kind: 'incident', title: 'Payments fail', text: 'Card payments fail. We are investigating the cause.' }),
);
export const announcementEdit = withSchemaName(
  'StatusAnnouncementChange',
  joi.object({
    title: joi.string().trim().min(1).max(200),
    components,
    starts_at: time,
    ends_at: time.allow(null).empty(''),
  }),
);
export const updateBody = withSchemaName(
  'StatusAnnouncementUpdateCreation',
  joi.object({
    state: joi
      .string()
      .valid(...INCIDENT_STATES, ...MAINTENANCE_STATES)
      .required(),
    text: text.required(),
  }),
);

export interface AnnouncementFields {
  kind: AnnouncementKind;
  title: string;
  text: string;
  state?: AnnouncementState;
  components?: string[];
  starts_at?: string | null;
  ends_at?: string | null;
}

const nullableText = joi.string().allow(null);
export const announcementSchema = withSchemaName(
  'StatusAnnouncement',
  whole({
    id: joi.string(),
    page_id: joi.string(),
    kind: joi.string().valid(...ANNOUNCEMENT_KINDS),
    title: joi.string(),
    state: joi.string(),
    components: joi.array().items(joi.string()),
    starts_at: joi.string().isoDate(),
    ends_at: nullableText,
    ended_at: nullableText,
    updates: joi
      .array()
      .items(whole({ id: joi.string(), at: joi.string(), state: joi.string(), text: joi.string(), by: joi.string() })),
    created_at: joi.string().isoDate(),
  }),
);

export type AnnouncementView = Omit<AnnouncementDoc, 'mails' | 'mails_at' | 'mail_due_at'> & {
  state: AnnouncementState;
};

export function toAnnouncementView(doc: AnnouncementDoc, now: string): AnnouncementView {
  const { mails: _mails, mails_at: _at, mail_due_at: _due, ...shown } = doc;
  return Object.assign(shown, { id: doc.id, state: getAnnouncementState(doc, now) });
}
