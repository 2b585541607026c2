/** What somebody does with an empty service: three commands that end with the first error on the dashboard. */
import { firstErrorCommand } from '../../ports/domain/first-error.js';

export interface Step {
  title: string;
  text: string;
  command: string;
}

/** @param baseUrl `server.base_url` */
export function firstSteps(baseUrl: string): Step[] {
  return [
    {
      title: 'Make a project',
      text: 'One per application. Items, releases and tokens belong to it.',
      command: 'aos project create shop',
    },
    {
      title: 'Give the application a token',
      text: 'It is shown once. Keep it in the environment of the application, here as AOS_TOKEN.',
      command: 'aos token create --name shop --scopes bugtracker:report --project shop',
    },
    {
      title: 'Report the first error',
      text: 'Equal errors become one item with a counter. Any language that speaks HTTP will do.',
      command: firstErrorCommand(baseUrl),
    },
  ];
}
