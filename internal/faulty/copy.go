package faulty

import "reflect"

// copied returns a copy of a request's input that shares nothing with it that can be changed: senders use theirs again.
func copied(input any) any {
	return copyValue(reflect.ValueOf(input)).Interface()
}

func copyValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
	}
	same := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		same.Set(reflect.New(v.Type().Elem()))
		same.Elem().Set(copyValue(v.Elem()))
	case reflect.Interface:
		same.Set(copyValue(v.Elem()))
	case reflect.Map:
		same.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			same.SetMapIndex(key, copyValue(value))
		}
	case reflect.Slice:
		same.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			same.Index(i).Set(copyValue(v.Index(i)))
		}
	case reflect.Struct:
		same.Set(v) // and with it the unexported fields, which are markers of the SDK
		for i := range v.NumField() {
			if field := same.Field(i); field.CanSet() {
				field.Set(copyValue(v.Field(i)))
			}
		}
	default:
		same.Set(v)
	}
	return same
}
