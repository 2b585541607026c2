import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { toBugCaller } from '../caller.js';
import type { DifferenceField } from '../grouping/report-difference.js';
import { splitBody } from '../http/split-schemas.js';
import { isSelection, type SplitRequest } from '../splitting/split-service.js';
import { getListContext, toContextSuffix } from './shared/list-context.js';
import { validateForm, getFieldValues, runOrShowAgain, getFormFields, type FormProblem } from './shared/form.js';
import { refParamsSchema, getRef, type PageDeps } from './shared/page-deps.js';

const FIELD_LABELS: Record<DifferenceField, string> = {
  exception_class: 'Class',
  file: 'File',
  function: 'Function',
  message: 'Message',
  app_version: 'Version',
  environment: 'Environment',
  host: 'Host',
  tag: 'Tag',
};
const FIELD_OPTIONS = (Object.keys(FIELD_LABELS) as DifferenceField[])
  .filter((field) => field !== 'message')
  .map((value) => ({ value, label: FIELD_LABELS[value] }));
const MAX_CHOICES = 50;

const buildListSchema = (max: number): joi.ArraySchema =>
  joi.array().items(joi.string().max(max).empty('')).single().max(MAX_CHOICES).default([]);
const splitQuerySchema = joi.object({
  list: joi.string().max(8000).empty(''),
  field: joi
    .string()
    .valid(...Object.keys(FIELD_LABELS))
    .empty(''),
  value: buildListSchema(500),
  occurrence: buildListSchema(64),
});

interface SplitSelection {
  field: string;
  values: string[];
  occurrences: string[];
}

const toSplitBody = ({ field, values, occurrences }: SplitSelection): object => ({
  ...(field !== '' && { by: { field, ...(values.length > 0 && { values }) } }),
  ...(occurrences.length > 0 && { occurrences }),
});

function parseQuerySelection({ query: given }: HttpRequest): SplitSelection {
  const {
    field = '',
    value = [],
    occurrence = [],
  } = given as { field?: string; value?: string[]; occurrence?: string[] };
  return { field, values: value, occurrences: occurrence };
}

const parsePostedSelection = (request: HttpRequest): SplitSelection => ({
  field: getFormFields(request)['field'] ?? '',
  values: getFieldValues(request, 'value'),
  occurrences: getFieldValues(request, 'occurrence'),
});

const toChoice = (occurrence: { id: string }, { occurrences }: SplitSelection): object => ({
  ...occurrence,
  checked: occurrences.includes(occurrence.id),
});

async function buildView(
  page: PageDeps,
  request: HttpRequest,
  chosen: SplitSelection,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const { splitting, parts } = page.services;
  const caller = toBugCaller(request.principal);
  const body = validateForm(
    splitBody,
    problem.message === undefined ? toSplitBody(chosen) : {},
  ) as unknown as SplitRequest;
  const { item, preview } = await splitting.preview(getRef(request), caller, body);
  const { items } = await parts.listPart(item.id, 'occurrences', { limit: MAX_CHOICES });
  const hidden = [
    ...(chosen.field === '' ? [] : [{ name: 'field', value: chosen.field }]),
    ...chosen.values.map((value) => ({ name: 'value', value })),
    ...chosen.occurrences.map((value) => ({ name: 'occurrence', value })),
  ];
  return new View('split', {
    title: `Split ${item.ref}`,
    crumbs: [{ label: 'Issues', href: '/bugs' }, { label: item.ref, href: `/bugs/${item.ref}` }, { label: 'Split' }],
    item,
    preview,
    sides: [
      { label: 'New issue', side: preview.leaves },
      { label: 'This issue', side: preview.stays },
    ],
    kept: (preview.leaves?.occurrences ?? 0) + (preview.stays?.occurrences ?? 0),
    differences: preview.differences.map(({ field, values }) => ({
      label: FIELD_LABELS[field],
      values: values.map(({ value, count }) => ({
        value,
        count,
        href: `/bugs/${encodeURIComponent(item.ref)}/split?${new URLSearchParams({ field, value }).toString()}#preview`,
      })),
    })),
    occurrences: (items as { id: string }[]).map((one) => toChoice(one, chosen)),
    fields: FIELD_OPTIONS,
    field: chosen.field === 'message' ? '' : chosen.field,
    pattern: chosen.field === 'message' ? chosen.values[0] : '',
    hidden,
    keep: toContextSuffix(getListContext(request)),
    ...problem,
  });
}

export function buildSplitPages(page: PageDeps): PageSpec[] {
  const access = { session: 'member' } as const;
  return [
    {
      path: '/bugs/{ref}/split',
      title: 'Issues',
      access,
      input: { params: refParamsSchema, query: splitQuerySchema },
      handle: (request) => {
        const chosen = parseQuerySelection(request);
        return runOrShowAgain(
          'split',
          request,
          () => buildView(page, request, chosen),
          (problem) => buildView(page, request, chosen, problem),
        );
      },
    },
    {
      method: 'POST',
      path: '/bugs/{ref}/split-off',
      title: 'Issues',
      access,
      input: { params: refParamsSchema, query: joi.object({ list: joi.string().max(8000).empty('') }) },
      handle: (request) => {
        const chosen = parsePostedSelection(request);
        return runOrShowAgain(
          'split',
          request,
          async () => {
            const { title = '', reason = '', force } = getFormFields(request);
            const more = {
              ...(title.trim() !== '' && { title: title.trim() }),
              ...(reason.trim() !== '' && { reason: reason.trim() }),
              force: force === 'true',
            };
            const body = validateForm(splitBody, { ...toSplitBody(chosen), ...more }) as unknown as SplitRequest;
            if (!isSelection(body)) return buildView(page, request, chosen);
            const done = await page.services.splitting.split(getRef(request), toBugCaller(request.principal), body);
            const message = `Split off ${done.split_off.ref} from ${done.item.ref}`;
            return new Redirect(`/bugs/${encodeURIComponent(done.split_off.ref)}`, { tone: 'success', message });
          },
          (problem) => buildView(page, request, chosen, problem),
        );
      },
    },
  ];
}
