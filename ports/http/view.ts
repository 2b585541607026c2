/** What a page answers with: a view in its layout, or the way to another page. */
import { Answer, type Cookie } from './answer.js';

/** What was refused of the form that a page shows again. */
export interface FormRefusal {
  code: string;
  message: string;
  /** Control → text. */
  fields: Record<string, string>;
}

export class View extends Answer {
  status = 200;
  /** Told to scripts that ask for JSON, in place of the page. */
  refusal: FormRefusal | null = null;
  holdsSecret = false;
  isDocument = false;
  onceThen: { label: string; href: string } | null = null;
  /** @param template file name in the plugin's `views/`, without `.hbs`. */
  constructor(
    readonly template: string,
    readonly context: Record<string, unknown> = {},
  ) {
    super();
  }
  withStatus(status: number): this {
    this.status = status;
    return this;
  }
  /** The page of a form that was refused. */
  withRefusal(status: number, refusal: FormRefusal): this {
    this.refusal = refusal;
    return this.withStatus(status);
  }
  /** The view is a whole document: no layout stands around it. */
  withoutLayout(): this {
    this.isDocument = true;
    return this;
  }
  /**
   * The page shows a secret that it will show again. It is sent uncompressed: beside text that somebody else can
   * choose, its compressed length would give the secret away. Form tokens need nothing of this: they are masked anew in
   * every answer.
   */
  withSecret(): this {
    this.holdsSecret = true;
    return this;
  }
  /**
   * The answer of a form that shows a secret for the only time: the form is answered with a redirect to a page that
   * shows this view for one look, and says afterwards that it was shown. The context must be JSON.
   * @param back the page to go on with
   */
  shownOnce(back: { label: string; href: string }): this {
    this.onceThen = back;
    return this;
  }
}

export interface Flash {
  tone: 'success' | 'warning' | 'danger' | 'info';
  message: string;
  /** A button beside it, which posts to this path: the way back. */
  action?: { label: string; post: string };
}

/** 303. The flash is shown once on the next page (`role="status"`). */
export class Redirect {
  cookies: Cookie[] = [];
  /** Somebody else than the service named the place: it leads to `/` unless GET serves a page there. */
  named = false;
  constructor(
    readonly location: string,
    readonly flash?: Flash,
  ) {}
  /** To a place that came with the request. */
  static named(location: string, flash?: Flash): Redirect {
    return Object.assign(new Redirect(location, flash), { named: true });
  }
  cookie(cookie: Cookie): this {
    this.cookies.push(cookie);
    return this;
  }
}
