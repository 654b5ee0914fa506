package engine

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// Error is an answer that is an exception: its type as DynamoDB names it, the
// message in DynamoDB's words and what some types carry besides.
type Error struct {
	Type    string
	Message string

	// Item is what ReturnValuesOnConditionCheckFailure asked for, with
	// ConditionalCheckFailedException.
	Item attr.Raw

	// Reasons are those of a TransactionCanceledException, one for each action
	// in the order of the request.
	Reasons []CancellationReason

	// Throttling says which limits a throttled request ran into.
	Throttling []ThrottlingReason
}

// ThrottlingReason is one limit that a request ran into, and the ARN of the table
// or index whose limit it is.
type ThrottlingReason struct{ Reason, Resource string }

// CancellationReason says why one action of a transaction did not go through;
// Code is "None" for an action that was not to blame.
type CancellationReason struct {
	Code    string
	Message string
	Item    attr.Raw
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// The exception types the engine answers with.
const (
	TypeValidation             = "ValidationException"
	TypeSerialization          = "SerializationException"
	TypeResourceNotFound       = "ResourceNotFoundException"
	TypeResourceInUse          = "ResourceInUseException"
	TypeConditionalCheckFailed = "ConditionalCheckFailedException"
	TypeDuplicateItem          = "DuplicateItemException"
	TypeTransactionCanceled    = "TransactionCanceledException"
	TypeTransactionConflict    = "TransactionConflictException"
	TypeTransactionInProgress  = "TransactionInProgressException"
	TypeIdempotentMismatch     = "IdempotentParameterMismatchException"
	TypeLimitExceeded          = "LimitExceededException"
	TypeTrimmedDataAccess      = "TrimmedDataAccessException"
	TypeExpiredIterator        = "ExpiredIteratorException"
	TypeThrottling             = "ThrottlingException"
	TypeProvisionedExceeded    = "ProvisionedThroughputExceededException"
	TypeTableNotFound          = "TableNotFoundException"
	TypeTableExists            = "TableAlreadyExistsException"
	TypeTableInUse             = "TableInUseException"
	TypeBackupNotFound         = "BackupNotFoundException"
	TypeBackupInUse            = "BackupInUseException"
	TypeNoRecovery             = "PointInTimeRecoveryUnavailableException"
	TypeInvalidRestoreTime     = "InvalidRestoreTimeException"
	TypeAccessDenied           = "AccessDeniedException"
	TypeUnknownOperation       = "UnknownOperationException"
	TypeInternal               = "InternalServerError"
	TypeUnavailable            = "ServiceUnavailable"
)

// ErrorOf returns the answer that err is, nil if it is none to be shown. A disk
// that takes no writes for now is the one thing besides the engine's own answers
// that a client should know: it is to try again.
func ErrorOf(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, store.ErrNoWrites):
		return errorf(TypeUnavailable, "%v", err)
	}
	return nil
}

// isConditionFailure reports whether err answers that a condition does not hold.
func isConditionFailure(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Type == TypeConditionalCheckFailed || e.Type == TypeDuplicateItem)
}

func errorf(typ, format string, args ...any) *Error {
	return &Error{Type: typ, Message: fmt.Sprintf(format, args...)}
}

// invalid is a ValidationException.
func invalid(format string, args ...any) *Error { return errorf(TypeValidation, format, args...) }

// invalidRequest is what backups, restores and point-in-time recovery refuse.
func invalidRequest(format string, args ...any) *Error {
	return invalid("Invalid Request: "+format, args...)
}

// invalidParameter is the commonest family of ValidationExceptions.
func invalidParameter(format string, args ...any) *Error {
	return invalid("One or more parameter values were invalid: "+format, args...)
}
