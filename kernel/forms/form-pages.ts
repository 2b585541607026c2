import { View, type HttpRequest, type PageResult, type PageSpec } from '../../ports/http/index.js';
import { getFormMessage, ServiceError } from '../errors.js';

/** The part of a rejection that a page shows. */
export interface FormRejection {
  message: string;
  code: string;
  errors: Record<string, string>;
}

/** Others lead to the error page. */
const CORRECTABLE_STATUSES: readonly number[] = [409, 422];

/**
 * The page again has the rejection's status and headers.
 * @param mendable statuses that the page itself can show
 */
export async function orAgain(
  run: () => Promise<PageResult>,
  again: (problem: FormRejection) => Promise<PageResult> | PageResult,
  mendable: readonly number[] = CORRECTABLE_STATUSES,
): Promise<PageResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || !mendable.includes(error.status)) throw error;
    const { code, fields: errors = {} } = error;
    const message = getFormMessage(error);
    const page = await again({ message, code, errors });
    if (!(page instanceof View)) return page;
    const view = page.withRejection(error.status, { code, message, fields: errors });
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
}

/**
 * Creates the page that accepts a posted form.
 * @param again renders the page with the form
 * @param mendable statuses that the page itself can show
 */
export const createFormPage = (
  page: Omit<PageSpec, 'method' | 'handle'>,
  run: (request: HttpRequest) => Promise<PageResult>,
  again: (request: HttpRequest, problem: FormRejection) => Promise<PageResult> | PageResult,
  mendable?: readonly number[],
): PageSpec => ({
  ...page,
  method: 'POST',
  handle: (request) =>
    orAgain(
      () => run(request),
      (problem) => again(request, problem),
      mendable,
    ),
});

/** Action of a button on a page. */
export type PageAction = (request: HttpRequest, id: string) => Promise<PageResult>;

/**
 * Creates the buttons of an object's page, each a form posted to `<path of the page>/<name>`.
 * @param page the page's path (contains `{id}`), title, access and input
 * @param again renders the page with the rejection
 * @returns a function that creates one button; `input` if its name has parameters
 */
export const createPageActions =
  (
    page: Pick<PageSpec, 'path' | 'title' | 'access' | 'input'>,
    again: (request: HttpRequest, problem: FormRejection) => Promise<PageResult>,
    mendable?: readonly number[],
  ) =>
  (name: string, run: PageAction, input = page.input): PageSpec =>
    createFormPage(
      { ...page, path: `${page.path}/${name}`, ...(input && { input }) },
      (request) => run(request, request.params['id'] ?? ''),
      again,
      mendable,
    );

/** For a page without form controls. */
export const formatProblem = ({ message, errors }: FormRejection): string =>
  [message, ...Object.values(errors)].join(' ');
