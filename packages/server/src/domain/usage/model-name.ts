/** The name of a model without its provider: agents name it `provider/model`. */
export function modelName(model: string): string {
  return model.slice(model.indexOf('/') + 1) || model;
}

export function modelProvider(model: string): string | undefined {
  const end = model.indexOf('/');
  return end < 1 ? undefined : model.slice(0, end);
}
