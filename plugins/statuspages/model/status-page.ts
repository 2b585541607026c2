import joi from 'joi';
import { MANAGED_FIELD, whole, withSchemaName } from '../../../kernel/contract/index.js';
import { COLOUR_PATTERN, COLOUR_MESSAGE } from '../../../lib/brand/colour.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { MONITOR_SOURCE_PATTERN } from '../../../ports/domain/watchdog.js';
import type { Doc } from '../../../ports/store/index.js';

export const HISTORY_DAYS = 90;
export const MAX_PAGE_MONITORS = 5_000;
/** Subtrees grow after the page was saved. */
export const MAX_SHOWN_MONITORS = 2 * MAX_PAGE_MONITORS;
/** Limit of bcrypt. */
export const MAX_PASSWORD_BYTES = 72;
export const MAX_COMPONENTS = 50;
export const MAX_COMPONENT_SOURCES = 100;

export interface StatusPageComponent {
  name: string;
  sources: string[];
  subtree: string | null;
  details: boolean;
}

/** The unique id invalidates cookies of the previous password. */
export interface PagePassword {
  [field: string]: string;
  id: string;
  hash: string;
}

export interface StatusPageDoc extends Doc {
  slug: string;
  title: string;
  text: string | null;
  seller: string | null;
  /** Such as `#0a6640`; null for the default. */
  colour: string | null;
  /** IANA, for times on the page. */
  timezone: string;
  indexed: boolean;
  published: boolean;
  /** By e-mail; absent means no. */
  subscriptions?: boolean;
  /** Absent instead of null, because the index is unique. */
  host?: string;
  /** Null for all projects. */
  project: string | null;
  components: StatusPageComponent[];
  logo_type: string | null;
  /** Last segment of the preview URL. */
  preview_key: string;
  password?: PagePassword | null;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  created_at: string;
  updated_at: string;
  rev: number;
}

export interface ComponentFields {
  name: string;
  sources?: string[];
  subtree?: string | null;
  details?: boolean;
}

/** Absent fields stay unchanged or get their default. */
export interface PageFields {
  slug?: string;
  title?: string;
  text?: string | null;
  seller?: string | null;
  colour?: string | null;
  timezone?: string;
  indexed?: boolean;
  published?: boolean;
  subscriptions?: boolean;
  host?: string | null;
  project?: string | null;
  /** Null removes it. */
  password?: string | null;
  components?: ComponentFields[];
  managed?: true;
}

export const toComponent = ({
  name,
  sources = [],
  subtree = null,
  details = false,
}: ComponentFields): StatusPageComponent => ({
  name: cleanText(name),
  sources: [...new Set(sources)],
  subtree,
  details,
});

const sourceText = joi.string().pattern(MONITOR_SOURCE_PATTERN).message('is not the source of a monitor');
const buildOptionalText = (most: number): joi.StringSchema => joi.string().max(most).allow(null, '');
export const HOST_PATTERN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

export const componentBody = withSchemaName(
  'StatusPageComponentFields',
  joi.object({
    name: joi.string().trim().min(1).max(100).required().description('Name shown to visitors; unique on the page'),
    sources: joi.array().items(sourceText).max(MAX_COMPONENT_SOURCES).description('Monitors by themselves'),
    subtree: sourceText.allow(null).description('A monitor with all its descendants'),
    details: joi.boolean().description('Show names and states of those of its monitors that are public'),
  }),
);

const fields = {
  text: buildOptionalText(2_000).description('Shown below the title, as plain text'),
  seller: buildOptionalText(100).description('Owner of the page. Default: the seller of its project'),
  colour: joi
    .string()
    .pattern(COLOUR_PATTERN)
    .message(COLOUR_MESSAGE)
    .allow(null)
    .empty('')
    .description('Header color; the text on it is black or white, depending on contrast. Default: that of its project'),
  timezone: joi.string().max(64).description('IANA time zone of displayed times; default: `app.timezone`'),
  indexed: joi.boolean().description('Whether search engines may list it; default: false'),
  published: joi.boolean().description('Default: false, only its preview shows it'),
  subscriptions: joi
    .boolean()
    .description('Whether visitors can get updates by e-mail; requires `notifications.smtp_host`. Default: false'),
  host: joi
    .string()
    .lowercase()
    .pattern(HOST_PATTERN)
    .message('must be a name such as status.example.org, without a port')
    .allow(null)
    .empty('')
    .description('Host name that shows only this page: one of `statuspages.hosts`, or set by an administrator'),
  project: joi.string().max(64).allow(null).empty('').description('Only monitors of this project are shown'),
  password: joi
    .string()
    .min(8)
    .max(200)
    .pattern(/^\P{Cc}*$/u)
    .message('must not contain control characters')
    .allow(null)
    .description(
      `Visitors must enter it to see the page; at most ${MAX_PASSWORD_BYTES} bytes of UTF-8. null removes it. It is never returned`,
    ),
  components: joi.array().items(componentBody).max(MAX_COMPONENTS).description('In the order of the page'),
};
const slug = joi
  .string()
  .pattern(/^[a-z0-9][a-z0-9._-]{0,63}$/)
  .message('must be at most 64 lower-case letters, digits, dots, dashes and underscores')
  .description('Slug in its address: `/status-page/<slug>`');
const title = joi.string().trim().min(1).max(100);

export const pageBody = withSchemaName(
  'StatusPageCreation',
  joi.object({ slug: slug.required(), title: title.required(), ...fields }).example({
    slug: 'shop',
    title: 'Shop status',
    components: [{ name: 'Web shop', sources: ['web-1', 'web-2'] }],
  }),
);
export const editBody = withSchemaName('StatusPageChange', joi.object({ slug, title, ...fields }));

const nullableText = joi.string().allow(null);
export const statusPageSchema = withSchemaName(
  'StatusPage',
  whole({
    id: joi.string(),
    slug: joi.string(),
    title: joi.string(),
    text: nullableText,
    seller: nullableText,
    colour: nullableText,
    timezone: joi.string(),
    indexed: joi.boolean(),
    published: joi.boolean(),
    subscriptions: joi.boolean(),
    host: nullableText,
    project: nullableText,
    components: joi.array().items(
      whole({
        name: joi.string(),
        sources: joi.array().items(joi.string()),
        subtree: nullableText,
        details: joi.boolean(),
      }),
    ),
    logo_type: nullableText,
    has_password: joi.boolean().description('Visitors must enter a password'),
    url: joi.string().description('Public address once it is published'),
    preview_url: joi.string().description('Preview address, for anyone who knows it'),
    created_by: joi.string(),
    created_at: joi.string().isoDate(),
    updated_at: joi.string().isoDate(),
  }).keys({ managed: MANAGED_FIELD }),
);

export type StatusPageView = Omit<StatusPageDoc, 'host' | 'preview_key' | 'password' | 'subscriptions' | 'rev'> & {
  has_password: boolean;
  subscriptions: boolean;
  host: string | null;
  url: string;
  preview_url: string;
};

export const hasPassword = ({ password }: Pick<StatusPageDoc, 'password'>): boolean =>
  password !== null && password !== undefined;

export const getPagePath = (slugged: Pick<StatusPageDoc, 'slug'>): string => `/status-page/${slugged.slug}`;

export function toStatusPageView(
  { preview_key, password, subscriptions = false, rev: _rev, host, ...page }: StatusPageDoc,
  baseUrl: string,
): StatusPageView {
  const url = host === undefined ? `${baseUrl}${getPagePath(page)}` : `https://${host}/`;
  const preview_url = `${baseUrl}${getPagePath(page)}/preview/${preview_key}`;
  return {
    ...page,
    id: page.id,
    subscriptions,
    host: host ?? null,
    has_password: hasPassword({ password }),
    url,
    preview_url,
  };
}
