import type { Json } from '../../store/types.ts';

/** The arguments of a call as a value, for protocols that carry no text; `{}` where the model wrote no JSON. */
export function argumentsValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

/** The arguments as JSON text, exactly as the model wrote them where that is JSON. */
export function argumentsJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return '{}';
  }
}
