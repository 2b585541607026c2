import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { toBugCaller } from '../caller.js';
import type { Respect } from '../grouping/difference.js';
import { splitBody } from '../http/split-schemas.js';
import { isSelection, type SplitRequest } from '../splitting/splitting.js';
import { contextOf, suffixOf } from './shared/context.js';
import { checked, fieldValues, orAgain, typedFields, type FormProblem } from './shared/form.js';
import { params, refOf, type PageDeps } from './shared/page-deps.js';

const LABELS: Record<Respect, string> = {
  exception_class: 'Class',
  file: 'File',
  function: 'Function',
  message: 'Message',
  app_version: 'Version',
  environment: 'Environment',
  host: 'Host',
  tag: 'Tag',
};
const FIELDS = (Object.keys(LABELS) as Respect[])
  .filter((field) => field !== 'message')
  .map((value) => ({ value, label: LABELS[value] }));
const CHOICES = 50;

const several = (max: number): joi.ArraySchema =>
  joi.array().items(joi.string().max(max).empty('')).single().max(CHOICES).default([]);
const query = joi.object({
  list: joi.string().max(8000).empty(''),
  field: joi
    .string()
    .valid(...Object.keys(LABELS))
    .empty(''),
  value: several(500),
  occurrence: several(64),
});

interface Chosen {
  field: string;
  values: string[];
  occurrences: string[];
}

const bodyOf = ({ field, values, occurrences }: Chosen): object => ({
  ...(field !== '' && { by: { field, ...(values.length > 0 && { values }) } }),
  ...(occurrences.length > 0 && { occurrences }),
});

function chosenIn({ query: given }: HttpRequest): Chosen {
  const {
    field = '',
    value = [],
    occurrence = [],
  } = given as { field?: string; value?: string[]; occurrence?: string[] };
  return { field, values: value, occurrences: occurrence };
}

const postedIn = (request: HttpRequest): Chosen => ({
  field: typedFields(request)['field'] ?? '',
  values: fieldValues(request, 'value'),
  occurrences: fieldValues(request, 'occurrence'),
});

const choiceOf = (occurrence: { id: string }, { occurrences }: Chosen): object => ({
  ...occurrence,
  checked: occurrences.includes(occurrence.id),
});

async function shown(
  page: PageDeps,
  request: HttpRequest,
  chosen: Chosen,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const { splitting, parts } = page.services;
  const caller = toBugCaller(request.principal);
  const body = checked(splitBody, problem.message === undefined ? bodyOf(chosen) : {}) as unknown as SplitRequest;
  const { item, preview } = await splitting.preview(refOf(request), caller, body);
  const { items } = await parts.partOf(item.id, 'occurrences', { limit: CHOICES });
  const hidden = [
    ...(chosen.field === '' ? [] : [{ name: 'field', value: chosen.field }]),
    ...chosen.values.map((value) => ({ name: 'value', value })),
    ...chosen.occurrences.map((value) => ({ name: 'occurrence', value })),
  ];
  return new View('split', {
    title: `Split ${item.ref}`,
    crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: item.ref, href: `/bugs/${item.ref}` }, { label: 'Split' }],
    item,
    preview,
    sides: [
      { label: 'Leaves', side: preview.leaves },
      { label: 'Stays', side: preview.stays },
    ],
    kept: (preview.leaves?.occurrences ?? 0) + (preview.stays?.occurrences ?? 0),
    differences: preview.differences.map(({ field, values }) => ({
      label: LABELS[field],
      values: values.map(({ value, count }) => ({
        value,
        count,
        href: `/bugs/${encodeURIComponent(item.ref)}/split?${new URLSearchParams({ field, value }).toString()}#preview`,
      })),
    })),
    occurrences: (items as { id: string }[]).map((one) => choiceOf(one, chosen)),
    fields: FIELDS,
    field: chosen.field === 'message' ? '' : chosen.field,
    pattern: chosen.field === 'message' ? chosen.values[0] : '',
    hidden,
    keep: suffixOf(contextOf(request)),
    ...problem,
  });
}

export function splitPages(page: PageDeps): PageSpec[] {
  const access = { session: 'member' } as const;
  return [
    {
      path: '/bugs/{ref}/split',
      title: 'Bugs',
      access,
      input: { params, query },
      handle: (request) => {
        const chosen = chosenIn(request);
        return orAgain(
          'split',
          request,
          () => shown(page, request, chosen),
          (problem) => shown(page, request, chosen, problem),
        );
      },
    },
    {
      method: 'POST',
      path: '/bugs/{ref}/split-off',
      title: 'Bugs',
      access,
      input: { params, query: joi.object({ list: joi.string().max(8000).empty('') }) },
      handle: (request) => {
        const chosen = postedIn(request);
        return orAgain(
          'split',
          request,
          async () => {
            const { title = '', reason = '', force } = typedFields(request);
            const more = {
              ...(title.trim() !== '' && { title: title.trim() }),
              ...(reason.trim() !== '' && { reason: reason.trim() }),
              force: force === 'true',
            };
            const body = checked(splitBody, { ...bodyOf(chosen), ...more }) as unknown as SplitRequest;
            if (!isSelection(body)) return shown(page, request, chosen);
            const done = await page.services.splitting.split(refOf(request), toBugCaller(request.principal), body);
            const message = `${done.split_off.ref} was split off from ${done.item.ref}.`;
            return new Redirect(`/bugs/${encodeURIComponent(done.split_off.ref)}`, { tone: 'success', message });
          },
          (problem) => shown(page, request, chosen, problem),
        );
      },
    },
  ];
}
