/** Forms of the administration as the interface's bodies. */
import joi from 'joi';
import { fromForm, utcOfLocal, type HttpRequest } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import {
  announcementBody,
  updateBody,
  type AnnouncementFields,
  type AnnouncementState,
} from '../model/announcement.js';
import { componentBody, editBody, pageBody, type ComponentFields, type PageFields } from '../model/page.js';

export const typed = ({ body }: Pick<HttpRequest, 'body'>): Record<string, unknown> => ({ ...(body as object | null) });

const textOf = (form: Record<string, unknown>, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** @throws ServiceError validation_failed */
export function pageFields(request: HttpRequest, creating: boolean): PageFields {
  const form = typed(request);
  const given: Record<string, unknown> = {
    indexed: form['indexed'] === 'true',
    subscriptions: form['subscriptions'] === 'true',
  };
  for (const name of ['slug', 'title', 'timezone']) given[name] = textOf(form, name);
  for (const name of ['text', 'seller', 'colour', 'project']) given[name] = textOf(form, name) || null;
  // As it was typed: a password may begin or end with a blank.
  if (form['remove_password'] === 'true') given['password'] = null;
  else if (typeof form['password'] === 'string' && form['password'] !== '') given['password'] = form['password'];
  // The form of who may not say it has no such field.
  if ('host' in form) given['host'] = textOf(form, 'host') || null;
  return fromForm(creating ? pageBody : editBody, given, { convert: true }) as PageFields;
}

/** @throws ServiceError validation_failed */
export function componentFields(request: HttpRequest): ComponentFields {
  const form = typed(request);
  const sources = textOf(form, 'sources').split(/\s+/).filter(Boolean);
  const [first] = sources;
  const below = form['below'] === 'true';
  if (below && sources.length > 1) throw invalid({ below: 'goes with one monitor alone' });
  const given = {
    name: textOf(form, 'name'),
    details: form['details'] === 'true',
    sources: below ? [] : sources,
    subtree: below ? (first ?? null) : null,
  };
  return fromForm(componentBody, given, { convert: false }) as ComponentFields;
}

const several = (value: unknown): string[] => [value ?? []].flat().filter((one) => typeof one === 'string');

/** @param timezone of the times in the form @throws ServiceError validation_failed */
export function announcementFields(request: HttpRequest, timezone: string): AnnouncementFields {
  const form = typed(request);
  const timeOf = (name: string): string | null => {
    const local = textOf(form, name);
    if (local === '') return null;
    const utc = utcOfLocal(local, timezone);
    if (utc === null) throw invalid({ [name]: 'must be a day and a time' });
    return utc;
  };
  const kind = textOf(form, 'kind');
  const given = {
    kind,
    title: textOf(form, 'title'),
    text: textOf(form, 'text'),
    components: several(form['components']),
    ...(kind === 'maintenance' && { starts_at: timeOf('starts_at'), ends_at: timeOf('ends_at') }),
  };
  return fromForm(announcementBody, given, { convert: false }) as AnnouncementFields;
}

/** @throws ServiceError validation_failed */
export function updateFields(request: HttpRequest): { state: AnnouncementState; text: string } {
  const form = typed(request);
  const given = { state: textOf(form, 'state'), text: textOf(form, 'text') };
  return fromForm(updateBody, given, { convert: false }) as { state: AnnouncementState; text: string };
}

export const idParams = joi.object({ id: joi.string().max(64).required() });
