import joi from 'joi';
import { getFormFields, fromForm, utcOfLocal, type HttpRequest } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import {
  announcementBody,
  updateBody,
  type AnnouncementFields,
  type AnnouncementState,
} from '../model/announcement.js';
import { componentBody, editBody, pageBody, type ComponentFields, type PageFields } from '../model/status-page.js';

const getText = (form: Record<string, unknown>, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** @throws ServiceError validation_failed */
export function readPageFields(request: HttpRequest, creating: boolean): PageFields {
  const form = getFormFields(request);
  const given: Record<string, unknown> = {
    indexed: form['indexed'] === 'true',
    subscriptions: form['subscriptions'] === 'true',
  };
  for (const name of ['slug', 'title', 'timezone']) given[name] = getText(form, name);
  for (const name of ['text', 'seller', 'colour', 'project']) given[name] = getText(form, name) || null;
  // A password may begin or end with a space.
  if (form['remove_password'] === 'true') given['password'] = null;
  else if (typeof form['password'] === 'string' && form['password'] !== '') given['password'] = form['password'];
  // Users who may not set it have no such field.
  if ('host' in form) given['host'] = getText(form, 'host') || null;
  return fromForm(creating ? pageBody : editBody, given, { convert: true }) as PageFields;
}

/** @throws ServiceError validation_failed */
export function readComponentFields(request: HttpRequest): ComponentFields {
  const form = getFormFields(request);
  const sources = getText(form, 'sources').split(/\s+/).filter(Boolean);
  const [first] = sources;
  const below = form['below'] === 'true';
  if (below && sources.length > 1) throw invalid({ below: 'goes with one monitor alone' });
  const given = {
    name: getText(form, 'name'),
    details: form['details'] === 'true',
    sources: below ? [] : sources,
    subtree: below ? (first ?? null) : null,
  };
  return fromForm(componentBody, given, { convert: false }) as ComponentFields;
}

const toList = (value: unknown): string[] => [value ?? []].flat().filter((one) => typeof one === 'string');

/**
 * @param timezone of the times in the form
 * @throws ServiceError validation_failed
 */
export function readAnnouncementFields(request: HttpRequest, timezone: string): AnnouncementFields {
  const form = getFormFields(request);
  const timeOf = (name: string): string | null => {
    const local = getText(form, name);
    if (local === '') return null;
    const utc = utcOfLocal(local, timezone);
    if (utc === null) throw invalid({ [name]: 'must be a day and a time' });
    return utc;
  };
  const kind = getText(form, 'kind');
  const given = {
    kind,
    title: getText(form, 'title'),
    text: getText(form, 'text'),
    components: toList(form['components']),
    ...(kind === 'maintenance' && { starts_at: timeOf('starts_at'), ends_at: timeOf('ends_at') }),
  };
  return fromForm(announcementBody, given, { convert: false }) as AnnouncementFields;
}

/** @throws ServiceError validation_failed */
export function readUpdateFields(request: HttpRequest): { state: AnnouncementState; text: string } {
  const form = getFormFields(request);
  const given = { state: getText(form, 'state'), text: getText(form, 'text') };
  return fromForm(updateBody, given, { convert: false }) as { state: AnnouncementState; text: string };
}

export const idParams = joi.object({ id: joi.string().max(64).required() });
